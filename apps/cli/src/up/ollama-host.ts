const standardPort = 11434;

export interface OllamaHost {
  host: string;
  /** Before `/api`. */
  baseUrl: string;
}

/**
 * Where Ollama is asked, by the value of OLLAMA_HOST, which Ollama reads itself: `host`, `host:port`,
 * `:port`, or an address. What it listens on, 0.0.0.0, is asked at 127.0.0.1.
 */
export function readOllamaHost(value: string | undefined): OllamaHost {
  const text = value?.trim() ?? '';
  const hasScheme = /^https?:\/\//.test(text);
  const url = URL.parse(hasScheme ? text : `http://${text.startsWith(':') ? `127.0.0.1${text}` : text}`);
  if (url === null) return { host: '127.0.0.1', baseUrl: `http://127.0.0.1:${standardPort}` };
  const anywhere = ['0.0.0.0', '[::]'].includes(url.hostname);
  const hostname = anywhere ? '127.0.0.1' : url.hostname;
  // With a scheme, the port that goes with it is meant, as Ollama does; it is not shown in an address.
  const port = url.port || (hasScheme ? '' : portOf(text));
  const baseUrl = `${url.protocol}//${hostname}${port === '' ? '' : `:${port}`}`;
  return { host: hostname.replace(/^\[|\]$/g, ''), baseUrl };
}

/** Port 80 vanishes from a parsed address; one that is not said is Ollama's own. */
function portOf(text: string): string {
  return /:80\/?$/.test(text) ? '80' : String(standardPort);
}
