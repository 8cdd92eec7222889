import type { OperatorRequest, OperatorResponse } from '@iop/wire';

/** What an operator asks and is told in one message each. */
export type Request = Exclude<OperatorRequest['request'], { case: undefined | 'startRun' }>;
export type Response = Exclude<OperatorResponse['response'], { case: undefined }>;
