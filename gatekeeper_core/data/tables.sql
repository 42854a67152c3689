CREATE TABLE messages (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, seq INTEGER NOT NULL, message_id BLOB, body BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, seq)
) WITHOUT ROWID;

CREATE UNIQUE INDEX messages_by_id ON messages (tenant, thread, message_id) WHERE message_id IS NOT NULL;

CREATE TABLE records (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, kind BLOB NOT NULL, body BLOB NOT NULL, upto_seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, kind)
) WITHOUT ROWID;

CREATE TABLE memories (
    tenant BLOB NOT NULL, user_id BLOB NOT NULL, id BLOB NOT NULL, serial INTEGER NOT NULL,
    is_current INTEGER NOT NULL, key BLOB, category BLOB NOT NULL, body BLOB NOT NULL, terms BLOB NOT NULL, vector BLOB,
    vector_of BLOB NOT NULL,
    PRIMARY KEY (tenant, user_id, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX memories_by_age ON memories (tenant, user_id, serial) WHERE is_current = 1;

CREATE INDEX memories_by_key ON memories (tenant, user_id, key, serial) WHERE is_current = 1 AND key IS NOT NULL;

CREATE TABLE memory_terms (
    tenant BLOB NOT NULL, user_id BLOB NOT NULL, term BLOB NOT NULL, serial INTEGER NOT NULL, id BLOB NOT NULL,
    PRIMARY KEY (tenant, user_id, term, serial)
) WITHOUT ROWID;

CREATE INDEX memory_terms_by_id ON memory_terms (tenant, user_id, id);

CREATE TABLE memory_sources (
    tenant BLOB NOT NULL, source BLOB NOT NULL, user_id BLOB NOT NULL, id BLOB NOT NULL,
    PRIMARY KEY (tenant, source, user_id, id)
) WITHOUT ROWID;

CREATE INDEX memory_sources_by_id ON memory_sources (tenant, user_id, id);

CREATE TABLE blobs (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, scope BLOB NOT NULL, id BLOB NOT NULL, name BLOB NOT NULL,
    serial INTEGER NOT NULL, size INTEGER NOT NULL,
    PRIMARY KEY (tenant, thread, scope, id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX blobs_by_age ON blobs (tenant, thread, scope, serial);

CREATE TABLE blob_chunks (
    tenant BLOB NOT NULL, thread BLOB NOT NULL, scope BLOB NOT NULL, id BLOB NOT NULL, number INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, thread, scope, id, number)
) WITHOUT ROWID;

CREATE TABLE tombstones (tenant BLOB NOT NULL, stone BLOB NOT NULL, PRIMARY KEY (tenant, stone)) WITHOUT ROWID;
