-- A store of version 3, after one short conversation that cost something.
PRAGMA application_id = 1129070935;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
CREATE TABLE event (
        session_id TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
        seq        INTEGER NOT NULL,
        kind       TEXT NOT NULL,
        item       TEXT NOT NULL,
        body       TEXT NOT NULL,              -- JSON object
        PRIMARY KEY (session_id, seq)
    ) WITHOUT ROWID
    ;
INSERT INTO "event" VALUES('ses_01k6first',1,'state','turn_1','{"state":"running"}');
INSERT INTO "event" VALUES('ses_01k6first',2,'message','msg_1','{"role":"user","parts":[{"type":"text","text":"Count the wheels"}]}');
INSERT INTO "event" VALUES('ses_01k6first',3,'message','msg_2','{"role":"assistant"}');
INSERT INTO "event" VALUES('ses_01k6first',4,'text','msg_2','{"text":"Twelve."}');
INSERT INTO "event" VALUES('ses_01k6first',5,'usage','msg_2','{"used":120,"size":200000,"request":{"input_tokens":100,"output_tokens":20}}');
INSERT INTO "event" VALUES('ses_01k6first',6,'state','turn_1','{"state":"idle","stop":"end_turn","usage":{"input_tokens":100,"output_tokens":20}}');
CREATE TABLE session (
        id                     TEXT PRIMARY KEY NOT NULL,
        cwd                    TEXT NOT NULL,
        additional_directories TEXT NOT NULL,  -- JSON array of paths
        title                  TEXT,
        mode                   TEXT NOT NULL,
        model                  TEXT NOT NULL,
        created_at             REAL NOT NULL,  -- seconds since the epoch
        updated_at             REAL NOT NULL
    , archived INTEGER NOT NULL DEFAULT 0, title_given INTEGER NOT NULL DEFAULT 0, options TEXT NOT NULL DEFAULT '{}', instructions TEXT, parent TEXT) WITHOUT ROWID
    ;
INSERT INTO "session" VALUES('ses_01k6first','/home/ada/engine','[]','Count the wheels','ask','anthropic/claude-sonnet-4-5',1780000000.0,1780000000.0,0,1,'{"thought":"high"}',NULL,NULL);
CREATE TABLE spending (
        day          TEXT NOT NULL,            -- of whoever spent, by local time: 2026-11-22
        session_id   TEXT NOT NULL,
        model        TEXT NOT NULL,            -- provider/model
        requests     INTEGER NOT NULL,
        input        INTEGER NOT NULL,         -- tokens; cached ones are part of it
        output       INTEGER NOT NULL,
        cached_read  INTEGER NOT NULL,
        cached_write INTEGER NOT NULL,
        thought      INTEGER NOT NULL,         -- part of the output
        cost         INTEGER NOT NULL,         -- picodollars, of requests whose price is known
        unpriced     INTEGER NOT NULL,         -- requests whose price is not
        PRIMARY KEY (day, session_id, model)
    ) WITHOUT ROWID
    ;
INSERT INTO "spending" VALUES('2026-11-20','ses_01k6first','anthropic/m',2,100,20,0,0,0,7000,0);
CREATE INDEX session_by_update ON session (updated_at, id);
CREATE INDEX session_by_cwd ON session (cwd, updated_at, id);
CREATE INDEX spending_by_session ON spending (session_id);
COMMIT;
