"""Which rules each fault of `agents/faulty.py` must be found by, and by no other."""

from collections.abc import Mapping, Sequence

_STDOUT = ("transport.stdout-is-only-protocol",)
_NO_APPROVAL = (
    "permission.dismissed-is-not-done",
    "permission.unoffered-option",
    "permission.unknown-outcome",
    "permission.client-cannot-answer",
)

FOUND_BY: Mapping[str, Sequence[str]] = {
    # lines
    "Banner": _STDOUT,
    "Logs": _STDOUT,
    "Latin": _STDOUT,
    "NotANumber": _STDOUT,
    "Pretty": ("transport.one-line-a-message",),
    "ShortLines": ("transport.long-line", "transport.survives-deep-nesting"),
    "SplitsLines": ("transport.unicode-separators",),
    "DiesOfGarbage": ("transport.survives-broken-lines", "transport.survives-deep-nesting"),
    "NoParseError": ("jsonrpc.parse-error-answered",),
    "DiesOfArrays": ("jsonrpc.survives-what-is-no-request",),
    "RunsBatches": ("jsonrpc.batch-not-executed", "jsonrpc.batch-refused", "jsonrpc.one-answer"),
    # JSON-RPC
    "TextIds": ("jsonrpc.ids-echoed",),
    "DoubleIds": ("jsonrpc.large-ids",),
    "AnswersExtensions": ("jsonrpc.unknown-extension",),
    "AnswersNotifications": ("jsonrpc.notifications-unanswered", "jsonrpc.one-answer"),
    "InternalErrors": ("jsonrpc.invalid-params", "session.relative-cwd", "session.relative-directories"),
    "TwoAnswers": ("jsonrpc.one-answer",),
    "SharedIds": ("jsonrpc.own-id-space",),
    # initialize
    "EchoesVersion": ("initialize.version-65535", "initialize.version-0"),
    "TextVersion": ("initialize.answers", "schema.valid"),
    "TakesTextVersion": ("initialize.version-not-an-integer",),
    "StrictCapabilities": ("initialize.malformed-capabilities",),
    "NeverFirst": ("initialize.comes-first",),
    "Anonymous": ("initialize.agent-info",),
    "TerminalLogin": ("auth.terminal-only-if-offered",),
    "RootFields": ("schema.no-keys-of-its-own",),
    # sessions
    "EarlyCommands": ("session.opened-before-updates",),
    "SlashCommands": ("commands.plain-names",),
    "UnknownMode": ("modes.current-is-one", "config.mode-in-step"),
    "PartialOptions": ("config.set-gives-all-options",),
    "Switches": ("config.switches-only-if-offered",),
    "VagueNotFound": ("session.unknown-refused", "close.unknown"),
    "NullList": ("list.answers-an-array", "schema.valid"),
    "WholeList": ("list.only-of-the-directory",),
    "VagueDates": ("list.dates",),
    "KeepsDeleted": ("delete.removes",),
    "IgnoresServers": ("mcp.stdio-server-starts",),
    "FailsWithServers": ("mcp.broken-server",),
    "NoReplay": ("load.replays", "load.tool-calls-settled"),
    "LateReplay": ("load.replays", "load.nothing-after-the-answer", "load.tool-calls-settled"),
    "DoublesHistory": ("load.not-doubled",),
    "ResumeReplays": ("resume.no-history",),
    # turns
    "LateUpdate": ("prompt.updates-before-answer",),
    "Silent": ("prompt.shows-something",),
    "NoPictures": ("prompt.takes-image",),
    "CancelFails": ("cancel.mid-turn", "cancel.while-asking", "close.ends-the-turn"),
    "CancelIgnored": (
        "cancel.mid-turn",
        "cancel.next-prompt-works",
        "cancel.only-its-session",
        "cancel.while-asking",
    ),
    "CancelLingers": ("cancel.nothing-to-cancel",),
    "CancelsAll": ("cancel.only-its-session",),
    "CloseWaits": ("close.ends-the-turn",),
    # tools
    "CallIdsTwice": ("tools.unique-ids",),
    "CallIdsRestart": ("tools.unique-ids",),
    "AsksFirst": ("permission.announced-call",),
    "NeverSettles": ("tools.settled-at-the-end", "load.tool-calls-settled"),
    "Unannounced": ("tools.announced-first",),
    "RelativePaths": ("tools.absolute-paths",),
    "TakesAnything": _NO_APPROVAL,
    "NeverAsksTwice": ("permission.rejected-is-not-done", *_NO_APPROVAL),
    "FilesUngated": ("client.files-only-if-offered",),
    "TerminalsUngated": ("client.terminals-only-if-offered",),
    "KeepsTerminals": ("terminals.released",),
    "NoticesUngated": ("client.notices-only-if-offered",),
    "OwnMethods": ("schema.known-methods",),
    "StrangeUpdate": ("schema.valid",),
    # the end
    "Orphan": ("shutdown.no-orphans",),
    "IgnoresEof": (
        "shutdown.at-the-end-of-input",
        "shutdown.before-initialize",
        "shutdown.mid-turn",
        "shutdown.mid-line",
        "shutdown.nobody-reads",
        "shutdown.exit-code",
    ),
    "ExitCode": ("shutdown.exit-code",),
}

TOGETHER: Sequence[tuple[str, ...]] = (
    ("Banner", "TextIds", "EchoesVersion", "EarlyCommands", "PartialOptions", "NullList", "LateUpdate", "CancelFails",
     "CallIdsTwice", "ExitCode", "AnswersExtensions"),
    ("Pretty", "DoubleIds", "Anonymous", "SlashCommands", "UnknownMode", "WholeList", "Silent", "CancelLingers",
     "RelativePaths", "Orphan", "NoParseError", "VagueNotFound"),
    ("Latin", "InternalErrors", "TakesTextVersion", "IgnoresServers", "Switches", "VagueDates", "ResumeReplays",
     "NoPictures", "CancelsAll", "TakesAnything", "KeepsTerminals", "DiesOfArrays"),
    ("Logs", "ShortLines", "StrictCapabilities", "FailsWithServers", "TerminalLogin", "KeepsDeleted", "NoReplay",
     "Unannounced", "FilesUngated", "NoticesUngated", "OwnMethods", "StrangeUpdate", "AnswersNotifications",
     "CloseWaits"),
    ("NotANumber", "SplitsLines", "NeverFirst", "RootFields", "DoublesHistory", "CallIdsRestart", "RunsBatches",
     "TerminalsUngated", "SharedIds"),
    ("DiesOfGarbage", "TextVersion", "LateReplay", "AsksFirst"),
    ("IgnoresEof",),
    ("TwoAnswers", "NeverSettles"),
    ("CancelIgnored",),
    ("NeverAsksTwice",),
)  # fmt: skip
"""Faults that one agent can have at once: found by different rules, and not in each other's way."""

FOUND_IN_V2_BY: Mapping[str, Sequence[str]] = {
    "TakesNullIds": ("jsonrpc.no-null-ids",),
    "TakesAnonymous": ("initialize.info-required",),
    "KeepsLoad": ("session.unoffered-methods", "methods.of-protocol-1-gone"),
    "OtherMessageId": ("prompt.answered-with-its-message",),
    "NeverRuns": (
        "state.runs-then-rests",
        "state.rests-only-after-running",
        "state.at-work-while-it-speaks",
    ),
    "NeverAsks": ("state.asks",),
    "OwnStatus": ("schema.own-values-have-an-underscore",),
    "NoIds": ("schema.valid",),
    "SpeaksIdle": ("state.at-work-while-it-speaks",),
    "RestsTwice": ("state.rests-only-after-running",),
    "ResumesSilently": ("resume.replays-from-start", "resume.ids-stay"),
    "StateFirst": ("resume.state-before-answer", "resume.unknown-cursor"),
    "NewIds": ("resume.ids-stay",),
    "TalksAfterClose": ("close.then-silence", "close.cancels-work", "updates.of-open-sessions"),
    "ReplaysChunks": ("resume.messages-before-chunks",),
    "WantsServers": ("session.servers-optional",),
    "SameMessageId": ("prompt.message-ids-unique",),
    "Flags": ("initialize.markers-are-objects",),
    "Untitled": ("tools.title-at-first",),
    "KeepsQuestions": ("cancel.withdraws-questions",),
    "CancelsAnything": ("cancel.unknown-work",),
    "OldFiles": ("client.nothing-of-protocol-1",),
    "CancelEndsTurn": ("cancel.mid-turn", "cancel.while-asking", "close.cancels-work"),
}
"""The same for the faults of `agents/minimal_v2.py`, in protocol 2."""

TOGETHER_IN_V2: Sequence[tuple[str, ...]] = (
    ("TakesNullIds", "KeepsLoad", "OtherMessageId", "OwnStatus", "NeverAsks", "NoIds", "ResumesSilently",
     "TalksAfterClose", "CancelsAnything"),
    ("TakesAnonymous", "NeverRuns", "NewIds", "OldFiles", "KeepsQuestions", "CancelEndsTurn", "WantsServers", "Flags"),
    ("StateFirst", "RestsTwice", "ReplaysChunks", "SameMessageId", "Untitled"),
    ("SpeaksIdle",),
)  # fmt: skip
