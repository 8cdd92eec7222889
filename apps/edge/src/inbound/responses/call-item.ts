import { type Fields, isObject } from '../http/problem.ts';
import type { ItemPlace, ItemStatus, OutputItem } from './output-item.ts';
import type { CalledTool } from './tool-plan.ts';

/** A call of one of the caller's functions. */
export class FunctionCallItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #tool: CalledTool;
  readonly #callId: string;
  #json = '';

  constructor(place: ItemPlace, tool: CalledTool, callId: string) {
    this.#place = place;
    this.#tool = tool;
    this.#callId = callId;
    place.emit('response.output_item.added', {
      output_index: place.outputIndex,
      item: this.toFields('in_progress'),
    });
  }

  arguments(delta: string): void {
    this.#json += delta;
    this.#emit('response.function_call_arguments.delta', { delta });
  }

  toFields(status: ItemStatus): Fields {
    const { name, namespace } = this.#tool;
    return {
      id: this.#place.id,
      type: 'function_call',
      status,
      call_id: this.#callId,
      name,
      ...(namespace !== undefined && { namespace }),
      arguments: this.#json,
    };
  }

  close(status: 'completed' | 'incomplete'): void {
    this.#emit('response.function_call_arguments.done', { name: this.#tool.name, arguments: this.#json });
    const { emit, outputIndex } = this.#place;
    emit('response.output_item.done', { output_index: outputIndex, item: this.toFields(status) });
  }

  #emit(type: string, fields: Fields): void {
    const { id, outputIndex, emit } = this.#place;
    emit(type, { item_id: id, output_index: outputIndex, ...fields });
  }
}

/**
 * A call of a tool that takes free text. The model has written a function call; its text is known when the arguments
 * are whole, so it comes in one piece.
 */
export class CustomCallItem implements OutputItem {
  readonly #place: ItemPlace;
  readonly #tool: CalledTool;
  readonly #callId: string;
  #json = '';
  #input = '';

  constructor(place: ItemPlace, tool: CalledTool, callId: string) {
    this.#place = place;
    this.#tool = tool;
    this.#callId = callId;
    place.emit('response.output_item.added', {
      output_index: place.outputIndex,
      item: this.toFields('in_progress'),
    });
  }

  arguments(delta: string): void {
    this.#json += delta;
  }

  toFields(status: ItemStatus): Fields {
    const { name, namespace } = this.#tool;
    return {
      id: this.#place.id,
      type: 'custom_tool_call',
      status,
      call_id: this.#callId,
      name,
      ...(namespace !== undefined && { namespace }),
      input: this.#input,
    };
  }

  close(status: 'completed' | 'incomplete'): void {
    this.#input = inputOf(this.#json);
    const { id, outputIndex, emit } = this.#place;
    const place = { item_id: id, output_index: outputIndex };
    if (this.#input !== '') emit('response.custom_tool_call_input.delta', { ...place, delta: this.#input });
    emit('response.custom_tool_call_input.done', { ...place, input: this.#input });
    emit('response.output_item.done', { output_index: outputIndex, item: this.toFields(status) });
  }
}

/** What is not the one argument that was offered is handed on as it is, for the caller to judge. */
function inputOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) && typeof value.input === 'string' ? value.input : json;
  } catch {
    return json;
  }
}
