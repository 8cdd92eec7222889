import type { z } from 'zod';

/**
 * The one declaration of a program's configuration; file, environment, flags, help and docs come from
 * it. Every object in `schema` is closed: unknown keys are errors, whether or not it is a strict one.
 */
export interface ConfigDeclaration<S extends z.ZodType = z.ZodType> {
  /** `iop-edge` */
  program: string;
  schema: S;
  /** `IOP_EDGE_`: the key `http.port` is then also read from `IOP_EDGE_HTTP_PORT`. */
  envPrefix: string;
}

export type ConfigOf<D extends ConfigDeclaration> = z.output<D['schema']>;

export function defineConfig<S extends z.ZodType>(declaration: ConfigDeclaration<S>): ConfigDeclaration<S> {
  return declaration;
}

/** The environment variable of a key: `http.port` → `IOP_EDGE_HTTP_PORT`. */
export function envNameOf(declaration: ConfigDeclaration, path: readonly string[]): string {
  return declaration.envPrefix + path.join('_').toUpperCase();
}
