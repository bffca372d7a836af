-- A store as claw-acp 0.1 left it, after one short conversation.
PRAGMA application_id = 1129070935;
PRAGMA user_version = 1;
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
INSERT INTO "event" VALUES('ses_01k5first',1,'state','turn_1','{"state":"running"}');
INSERT INTO "event" VALUES('ses_01k5first',2,'message','msg_1','{"role":"user","parts":[{"type":"text","text":"Explain the mill"}]}');
INSERT INTO "event" VALUES('ses_01k5first',3,'message','msg_2','{"role":"assistant"}');
INSERT INTO "event" VALUES('ses_01k5first',4,'text','msg_2','{"text":"It turns."}');
INSERT INTO "event" VALUES('ses_01k5first',5,'state','turn_1','{"state":"idle","stop":"end_turn"}');
CREATE TABLE session (
        id                     TEXT PRIMARY KEY NOT NULL,
        cwd                    TEXT NOT NULL,
        additional_directories TEXT NOT NULL,  -- JSON array of paths
        title                  TEXT,
        mode                   TEXT NOT NULL,
        model                  TEXT NOT NULL,
        created_at             REAL NOT NULL,  -- seconds since the epoch
        updated_at             REAL NOT NULL
    ) WITHOUT ROWID
    ;
INSERT INTO "session" VALUES('ses_01k5first','/home/ada/engine','["/home/ada/notes"]','Explain the mill','edit','offline/assistant',1760000000.0,1760000000.0);
INSERT INTO "session" VALUES('ses_01k5second','/home/ada/engine','[]',NULL,'ask','offline/assistant',1760000100.0,1760000100.0);
CREATE INDEX session_by_update ON session (updated_at, id);
CREATE INDEX session_by_cwd ON session (cwd, updated_at, id);
COMMIT;
