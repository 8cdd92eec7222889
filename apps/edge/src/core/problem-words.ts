const mostProblems = 3;

/** Why a Node refused its configuration, for a line of a table: a file with many targets gives many. */
export function problemWords(problems: readonly string[]): string {
  const more = problems.length - mostProblems;
  const rest = more > 0 ? [`${more} more, which the logs of the Node and the Edge name`] : [];
  return [...problems.slice(0, mostProblems), ...rest].join('; ');
}
