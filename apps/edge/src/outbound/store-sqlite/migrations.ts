/** Schema changes in order; entry n brings user_version from n to n + 1. Never edited once released. */
export const migrations: readonly string[] = [
  `
  CREATE TABLE runs (
    run_id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    door TEXT NOT NULL,
    key_id TEXT NOT NULL,
    asked TEXT NOT NULL,
    adapter TEXT NOT NULL,
    target TEXT NOT NULL,
    node TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    ended_at INTEGER,
    end_json TEXT
  ) WITHOUT ROWID;
  CREATE INDEX runs_open ON runs (run_id) WHERE ended_at IS NULL;

  CREATE TABLE identities (
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    public_key BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    PRIMARY KEY (role, name)
  ) WITHOUT ROWID;

  CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
  ) WITHOUT ROWID;

  CREATE TABLE config_revisions (
    revision INTEGER PRIMARY KEY,
    hash TEXT NOT NULL,
    loaded_at INTEGER NOT NULL
  );
  `,
  `
  ALTER TABLE runs ADD COLUMN route TEXT NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN prompt_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN completion_tokens INTEGER;
  ALTER TABLE runs ADD COLUMN estimated INTEGER;
  UPDATE runs SET
    prompt_tokens = json_extract(end_json, '$.usage.promptTokens'),
    completion_tokens = json_extract(end_json, '$.usage.completionTokens'),
    estimated = json_extract(end_json, '$.usage.estimated')
  WHERE end_json IS NOT NULL;

  ALTER TABLE api_keys ADD COLUMN policy_json TEXT;

  -- what is left of pruned runs
  CREATE TABLE usage_days (
    day INTEGER NOT NULL,
    key_id TEXT NOT NULL,
    model TEXT NOT NULL,
    node TEXT NOT NULL,
    runs INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cancelled INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    completion_tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    unmeasured INTEGER NOT NULL,
    PRIMARY KEY (day, key_id, model, node)
  ) WITHOUT ROWID;
  `,
];
