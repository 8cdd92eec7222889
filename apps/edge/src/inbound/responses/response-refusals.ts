import { invalidRequest, type Refusal } from '../http/refusal.ts';

/** Unknown, not kept, deleted or somebody else's: nobody can tell which. */
export function missingResponse(id?: string): Refusal {
  const what = id === undefined ? 'This response' : `Response with id '${shortened(id)}'`;
  const message = `${what} not found.`;
  return {
    status: 404,
    message,
    type: 'invalid_request_error',
    code: 'response_not_found',
    param: 'response_id',
  };
}

export function missingPrevious(id: string): Refusal {
  const message = `Previous response with id '${shortened(id)}' not found.`;
  return invalidRequest(message, 'previous_response_not_found', 'previous_response_id');
}

export function previousRuns(id: string): Refusal {
  const message = `Previous response with id '${shortened(id)}' is still running; wait for its end.`;
  return {
    status: 409,
    message,
    type: 'invalid_request_error',
    code: 'previous_response_in_progress',
    param: 'previous_response_id',
    retryAfterMs: 1000,
  };
}

export function notBackground(): Refusal {
  const message =
    'Cannot cancel a synchronous response: only responses created with background: true can be cancelled; close its connection instead.';
  return invalidRequest(message, 'response_not_background', 'response_id');
}

export function notEnded(id: string): Refusal {
  const message = `Response with id '${shortened(id)}' is still running; cancel it, or wait for its end, before it is deleted.`;
  return {
    status: 409,
    message,
    type: 'invalid_request_error',
    code: 'response_in_progress',
    shouldRetry: false,
  };
}

export function notKept(): Refusal {
  const message = 'x-iop-on-disconnect: continue needs store: the answer has to be kept until it is fetched.';
  return invalidRequest(message, 'invalid_value', 'store');
}

export function noSuchEvent(startingAfter: number, last: number): Refusal {
  const message = `starting_after is ${startingAfter}, and the last event of this ended response has the sequence_number ${last}.`;
  return invalidRequest(message, 'invalid_value', 'starting_after');
}

/** What asks for keeping where nothing may be kept. */
export function storeRefused(param: string): Refusal {
  const message = `${param} needs the answer to be kept, which this Edge does not do (history.store: refuse).`;
  return invalidRequest(message, 'unsupported_value', param);
}

/** What the upstream said cannot be an answer. */
export function unreadable({ code, message }: { code: string; message: string }): Refusal {
  return { status: 502, message, type: 'server_error', code, shouldRetry: false };
}

function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
