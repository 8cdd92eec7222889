/** Whether a name is one that the patterns mean. `*` stands for any text, also for none; empty: all. */
export function compilePatterns(patterns: readonly string[]): (name: string) => boolean {
  if (patterns.length === 0) return () => true;
  const exact = new Set(patterns.filter((pattern) => !pattern.includes('*')));
  const globs = patterns.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  return (name) => exact.has(name) || globs.some((parts) => fits(parts, name));
}

/** In one pass over the name: names come from callers, and patterns must not make them dear. */
function fits(parts: readonly string[], name: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last))
    return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}
