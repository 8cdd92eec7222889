import type { History } from '../history/history.ts';
import { answerRule, runContentRule, transcriptRule } from './content-rules.ts';
import { cancelledRule, effectRule, keyRule } from './effect-rules.ts';
import { enoughRule } from './enough-rule.ts';
import { explainedRule } from './explained-rule.ts';
import { leftoverRule } from './leftover-rule.ts';
import { logRule } from './log-rules.ts';
import { promiseRule } from './promise-rules.ts';
import { indexHistory, type Rule, type Violation } from './violation.ts';

const rules: readonly Rule[] = [
  enoughRule,
  leftoverRule,
  logRule,
  runContentRule,
  answerRule,
  transcriptRule,
  explainedRule,
  promiseRule,
  keyRule,
  effectRule,
  cancelledRule,
];

/** Everything in a history that must never be seen. Pure. */
export function checkHistory(history: History): Violation[] {
  const indexed = indexHistory(history);
  return rules.flatMap((rule) => rule(indexed));
}
