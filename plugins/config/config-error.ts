/** The environment says something that cannot be followed. The message is one sentence for the operator. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}
