/** A command of `npm run dispatch -- <name> …`. It throws errors whose messages are sentences for the operator. */
export type Command = {
  /** The line of the usage text: its arguments and what it does. */
  summary: string
  run: (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<void>
}
