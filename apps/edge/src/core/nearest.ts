/** The known names that somebody may have meant by `asked`: at most `limit`, nearest first. */
export function nearestNames(asked: string, known: Iterable<string>, limit = 3): string[] {
  const wanted = fold(asked);
  const scored: { name: string; score: number }[] = [];
  for (const name of known) {
    const score = distanceOf(wanted, fold(name));
    if (score !== undefined) scored.push({ name, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1));
  return scored.slice(0, limit).map((entry) => entry.name);
}

/** Long names would cost quadratic time and are nobody's typing error. */
const longestCompared = 128;

function fold(name: string): string {
  return name.slice(0, longestCompared).toLowerCase();
}

/** undefined: too far to be meant. */
function distanceOf(asked: string, name: string): number | undefined {
  const part = asked.length >= 3 && (name.includes(asked) || (name.length >= 3 && asked.includes(name)));
  const edits = editDistance(asked, name);
  const allowed = Math.max(1, Math.floor(Math.max(asked.length, name.length) / 3));
  if (edits <= allowed) return edits;
  return part ? allowed + edits : undefined;
}

/** Insertions, deletions, changes and swapped neighbours. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = at(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(before, j - 2) + 1 : Infinity;
      next.push(Math.min(change, swap, at(row, j) + 1, at(next, j - 1) + 1));
    }
    before = row;
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
