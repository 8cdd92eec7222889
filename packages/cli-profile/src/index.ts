export { encodeCliProfile } from './encode-profile.ts';
export { type ParsedProfile, parseCliProfile } from './parse-profile.ts';
export {
  type CliProfile,
  checkCliProfile,
  cliProfileKeys,
  type ExitMeaning,
  exitMeanings,
  type Matcher,
} from './profile.ts';
