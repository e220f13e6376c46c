/** An environment variable has a value that cannot be used. The message is one sentence for the operator. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
