/** Keys of a target of the adapter `cli`, as they stand in edge.yaml. */
export type AgentProfile = Readonly<Record<string, unknown>>;

export interface KnownAgent {
  /** Of the executable, and of the target. */
  name: string;
  profile: AgentProfile;
  /** Where it looks for its key, besides the login in its own folder. */
  keys: readonly string[];
}

/** Claude Code writes these, and others that took its format. */
const claudeLines: AgentProfile = {
  output: 'jsonl',
  where: { type: 'assistant', 'message.content.0.type': 'text' },
  field: 'message.content.0.text',
  separator: '\n\n',
  end: { type: 'result', subtype: 'success' },
  fail: { type: 'result', is_error: true },
  message: 'result',
  usage: { where: { type: 'result' }, prompt: 'usage.input_tokens', completion: 'usage.output_tokens' },
  other_lines: 'skip',
};

/**
 * How each is run without a person before it. None is given leave to change anything beyond what it may by
 * itself: who wants that writes a profile (docs/cli-agents.md, where the same ones stand).
 */
export const knownAgents: readonly KnownAgent[] = [
  {
    name: 'claude',
    profile: { args: ['-p', '--output-format', 'stream-json', '--verbose'], ...claudeLines },
    keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN', 'CLAUDE_CONFIG_DIR'],
  },
  {
    name: 'codex',
    profile: {
      args: ['exec', '--json', '--skip-git-repo-check', '-s', 'read-only', '-'],
      output: 'jsonl',
      where: { type: 'item.completed', 'item.type': 'agent_message' },
      field: 'item.text',
      separator: '\n\n',
      end: { type: 'turn.completed' },
      fail: { type: 'turn.failed' },
      message: 'error.message',
      usage: {
        where: { type: 'turn.completed' },
        prompt: 'usage.input_tokens',
        completion: 'usage.output_tokens',
      },
      other_lines: 'skip',
    },
    keys: ['OPENAI_API_KEY', 'CODEX_API_KEY', 'CODEX_HOME'],
  },
  {
    name: 'gemini',
    profile: {
      args: ['-o', 'stream-json', '--skip-trust'],
      output: 'jsonl',
      where: { type: 'message', role: 'assistant' },
      field: 'content',
      end: { type: 'result', status: 'success' },
      fail: { type: 'result', status: 'error' },
      message: 'error.message',
      usage: { where: { type: 'result' }, prompt: 'stats.input_tokens', completion: 'stats.output_tokens' },
      other_lines: 'skip',
      exit_codes: { '41': 'unauthenticated', '42': 'invalid', '53': 'exhausted' },
    },
    keys: [
      'GEMINI_API_KEY',
      'GOOGLE_API_KEY',
      'GOOGLE_GEMINI_BASE_URL',
      'GOOGLE_CLOUD_PROJECT',
      'GOOGLE_GENAI_USE_VERTEXAI',
    ],
  },
  {
    name: 'opencode',
    profile: {
      args: ['run', '--format', 'json'],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
      output: 'jsonl',
      where: { type: 'text' },
      field: 'part.text',
      separator: '\n\n',
      end: { type: 'step_finish', 'part.reason': 'stop' },
      fail: { type: 'error' },
      message: 'error.data.message',
      usage: {
        where: { type: 'step_finish' },
        prompt: 'part.tokens.input',
        completion: 'part.tokens.output',
      },
      other_lines: 'skip',
    },
    keys: ['OPENCODE_CONFIG', 'OPENAI_API_KEY', 'ANTHROPIC_API_KEY'],
  },
  {
    name: 'aider',
    profile: {
      args: [
        '--message-file',
        '/dev/stdin',
        '--yes-always',
        '--no-stream',
        '--no-pretty',
        '--no-git',
        '--no-check-update',
      ],
    },
    keys: ['OPENAI_API_KEY', 'OPENAI_API_BASE', 'ANTHROPIC_API_KEY', 'GEMINI_API_KEY', 'AIDER_MODEL'],
  },
  {
    name: 'qwen',
    profile: { args: ['--output-format', 'stream-json'], ...claudeLines },
    keys: ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'OPENAI_MODEL'],
  },
  {
    name: 'goose',
    profile: { args: ['run', '--quiet', '--no-session', '-i', '-'] },
    keys: ['GOOSE_PROVIDER', 'GOOSE_MODEL', 'OPENAI_API_KEY', 'OPENAI_HOST', 'ANTHROPIC_API_KEY'],
  },
];
