import type { OllamaHost } from './ollama-host.ts';
import type { UpPlan } from './plan.ts';
import { type LocalAdapter, localAdapters } from './write-configs.ts';

const answerWithinMs = 700;

/** The adapters whose server of the OpenAI dialect answers at this moment. */
export async function findServers(
  { plan, ollama }: { plan: UpPlan; ollama: OllamaHost },
  signal: AbortSignal,
): Promise<string[]> {
  const adapters = localAdapters(plan, ollama);
  const found = await Promise.all(adapters.map((adapter) => listsModels(openAiUrl(adapter), signal)));
  return adapters.filter((_adapter, index) => found[index]).map(({ name }) => name);
}

/** Ollama speaks this dialect too, beside its own, which its adapter uses. */
function openAiUrl({ kind, base_url: url }: LocalAdapter): string {
  return kind === 'ollama' ? `${url}/v1` : url;
}

/** Whether it lists at least one model, in the way of the OpenAI dialect, without asking for a key. */
async function listsModels(baseUrl: string, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(`${baseUrl}/models`, {
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerWithinMs)]),
    });
    const list = (await answer.json()) as { data?: unknown };
    return answer.ok && Array.isArray(list.data) && list.data.length > 0;
  } catch {
    return false;
  }
}
