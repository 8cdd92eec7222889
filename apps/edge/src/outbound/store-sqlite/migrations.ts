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
  `
  ALTER TABLE runs ADD COLUMN run_class TEXT NOT NULL DEFAULT 'attached';
  ALTER TABLE runs ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN last_pos INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN stop_cause TEXT;
  ALTER TABLE runs ADD COLUMN node_instance TEXT NOT NULL DEFAULT '';
  ALTER TABLE runs ADD COLUMN committed INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE runs ADD COLUMN stale TEXT NOT NULL DEFAULT '';

  CREATE TABLE run_logs (
    run_id TEXT PRIMARY KEY,
    -- of its first segment: the id, below 0 where it is kept; 0: there is none
    run_no INTEGER NOT NULL,
    -- of a stored or detached run
    kept INTEGER NOT NULL,
    last_pos INTEGER NOT NULL,
    -- of the last attempt that said something, and its seq
    attempt INTEGER NOT NULL,
    last_seq INTEGER NOT NULL,
    ended INTEGER NOT NULL,
    -- of the segments that hold content
    bytes INTEGER NOT NULL,
    has_content INTEGER NOT NULL,
    -- how many segments there were, and the newest of them
    segments INTEGER NOT NULL,
    last_id INTEGER NOT NULL
  ) WITHOUT ROWID;

  -- events that follow each other, as the field 'events' of a RunEvents message; appended only, whosever they are, so
  -- that a transaction changes few pages. Those of stored and detached runs live longer and so lie apart.
  CREATE TABLE attached_segments (
    id INTEGER PRIMARY KEY,
    run_no INTEGER NOT NULL,
    -- the segment before it of the same run; 0: none
    previous INTEGER NOT NULL,
    first_pos INTEGER NOT NULL,
    count INTEGER NOT NULL,
    -- 1: some are the Edge's own; 2: some are content
    holds INTEGER NOT NULL,
    -- when content was taken out: which of the events are left, as a JSON array of places from 0
    left_json TEXT,
    events BLOB NOT NULL
  );
  CREATE TABLE kept_segments (
    id INTEGER PRIMARY KEY,
    run_no INTEGER NOT NULL,
    previous INTEGER NOT NULL,
    first_pos INTEGER NOT NULL,
    count INTEGER NOT NULL,
    holds INTEGER NOT NULL,
    left_json TEXT,
    events BLOB NOT NULL
  );
  -- every so many segments of a run one is marked, from which its predecessors are found
  CREATE TABLE run_marks (
    run_no INTEGER NOT NULL,
    first_pos INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY (run_no, first_pos)
  ) WITHOUT ROWID;

  -- the sum of run_logs.bytes of runs that are not kept
  CREATE TABLE content_total (bytes INTEGER NOT NULL);
  INSERT INTO content_total VALUES (0);

  CREATE TABLE run_orders (
    run_id TEXT PRIMARY KEY,
    select_json TEXT NOT NULL,
    dialect TEXT NOT NULL,
    stream INTEGER NOT NULL,
    include_usage INTEGER NOT NULL,
    raw_json TEXT,
    deadline_ms INTEGER NOT NULL,
    body BLOB NOT NULL,
    asked BLOB
  );

  CREATE TABLE claims (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    run_id TEXT NOT NULL,
    claimed_at INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
  ) WITHOUT ROWID;
  CREATE INDEX claims_of_run ON claims (run_id);
  CREATE INDEX claims_by_age ON claims (claimed_at);
  `,
];
