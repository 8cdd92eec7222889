/** Rows under titles, aligned by spaces, without borders; the last column may be of any width. */
export function formatTable(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [titles.map((title) => title.toUpperCase()), ...rows];
  const widths = titles.map((_title, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ''))));
  const lines = all.map((row) =>
    row
      .map((cell, column) => pad(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Columns of a terminal: most East Asian letters and emoji take two. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) {
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{1faff}]/u.test(
        letter,
      )
        ? 2
        : 1;
  }
  return width;
}

/** `-` where there is nothing, so that columns stay columns. */
export function orDash(text: string | undefined): string {
  return text === undefined || text === '' ? '-' : text;
}
