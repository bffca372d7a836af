"""The offline assistant's texts about itself."""

NOT_UNDERSTOOD = (
    "I am the offline assistant built into claw-acp: no language model is connected, so I work by fixed rules, and "
    "I did not understand that request."
)

ABILITIES = """\
What I can do with the files and programs of this project:

- `list files in src` · `find files named *.py` · `summarize this project`
- `read README.md` · `explain app.py` · `search for "some text"`
- `create notes.txt with "Hello"` · `append "a line" to notes.txt`
- `replace "old" with "new" in app.py`
- `run "make test"`, and after it `if it fails, …`
- `fix the failing test: run "python3 -m unittest"` (texts that are spelled other than the test says)
- `plan: first this, then that`

Several requests can be joined with “then”."""

HOW_TO_CONNECT = """\
To work with a language model, set `ANTHROPIC_API_KEY` or `OPENAI_API_KEY` in the environment your editor starts \
claw-acp with, or name a model in `config.toml` (`model = "provider/model"`), then start a new session. \
`claw-acp doctor` says what it finds."""
