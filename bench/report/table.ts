/** Columns as wide as they need to be: the first to the left, numbers to the right. */
export function formatTable(head: readonly string[], lines: readonly (readonly string[])[]): string {
  const all = [head, ...lines];
  const widths = head.map((_, at) => Math.max(...all.map((line) => line[at]?.length ?? 0)));
  return all.map((line) => formatLine(line, widths)).join('\n');
}

function formatLine(line: readonly string[], widths: readonly number[]): string {
  const cells = widths.map((width, at) => {
    const text = line[at] ?? '';
    return at === 0 ? text.padEnd(width) : text.padStart(width);
  });
  return `| ${cells.join(' | ')} |`;
}

export function formatCell(value: number | undefined, digits: number): string {
  return value === undefined || !Number.isFinite(value) ? '–' : value.toFixed(digits);
}
