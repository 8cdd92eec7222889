import type { TargetView } from '@iop/client';
import type { UpPlan } from './plan.ts';

export interface Welcome {
  plan: UpPlan;
  apiKey: string;
  targets: readonly TargetView[];
  /** CLI agents that are there and were not asked for. */
  agentsNotAsked: readonly string[];
  /** How `iop` is called here: `/home/kim/iop/bin/iop`. */
  iop: string;
  /** Whether `iop` finds this state directory by itself. */
  isDefaultStateDir: boolean;
}

/** What a person sees: where everything is, and three things to try. */
export function formatWelcome({
  plan,
  apiKey,
  targets,
  agentsNotAsked,
  iop,
  isDefaultStateDir,
}: Welcome): string {
  const url = `${plan.httpUrl}/v1`;
  const facts = [
    ['OpenAI URL', url],
    ['API key', apiKey],
    ['wire', plan.wireAddress],
    ['state', plan.stateDir],
    ['logs', plan.logDir],
    ['models', targets.map(modelWords).join(', ')],
  ];
  const table = facts.map(([name, value]) => `  ${(name ?? '').padEnd(12)}${value}`);
  const env = isDefaultStateDir ? '' : `IOP_STATE_DIR=${quote(plan.stateDir)} `;
  return `IOP is up. Ctrl-C ends it.

${table.join('\n')}
${agentWords(agentsNotAsked)}
Try it, in another terminal:

  curl ${url}/chat/completions \\
    -H "Authorization: Bearer ${apiKey}" -H "Content-Type: application/json" \\
    -d '{"model":"echo","messages":[{"role":"user","content":"Hello"}]}'

  npm install openai && OPENAI_BASE_URL=${url} OPENAI_API_KEY=${apiKey} node -e '
    const { OpenAI } = require("openai");
    const messages = [{ role: "user", content: "Hello" }];
    new OpenAI().chat.completions.create({ model: "echo", messages }).then((a) => console.log(a.choices[0].message.content));'

  ${env}${quote(iop)} run --adapter mock --target echo "Hello"

`;
}

/** An offer, not more: they work with the login of whoever starts this. */
function agentWords(names: readonly string[]): string {
  if (names.length === 0) return '';
  const list = names.join(',');
  return `
CLI agents found: ${names.join(', ')}. Started with --agents ${list} they are models too. They then work with
your login, for whoever has an API key.
`;
}

export function modelWords({ name, adapter }: TargetView): string {
  return `${name} (${adapter})`;
}

/** For a shell, only where it is needed. */
function quote(text: string): string {
  return /^[\w./~-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
