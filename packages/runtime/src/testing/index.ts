export {
  type AdapterHarness,
  type AdapterScenario,
  adapterContract,
  adapterScenarios,
} from './adapter-contract.ts';
export { createRecordingSink, type RecordingSink } from './recording-sink.ts';
export {
  createScriptedAdapter,
  type ScriptedAdapter,
  type ScriptedAdapterOptions,
  type ScriptedRun,
} from './scripted-adapter.ts';
