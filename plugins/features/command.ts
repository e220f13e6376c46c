import type { Dependencies } from '../container/dependencies.ts'

/** What a command of a feature works with. The service may run beside it, or be down. */
export type CommandTools = Pick<
  Dependencies,
  'catalogLocations' | 'config' | 'database' | 'keyring' | 'log' | 'network' | 'now' | 'sandbox'
>

/** What operators do with a feature at the command line: `npm run dispatch -- <name of the feature> …`. */
export type FeatureCommand = {
  /** The line of the usage text: its arguments and what it does. */
  summary: string
  /** Reads its arguments, and answers what is done then. Both throw errors whose messages are sentences for the operator. */
  read: (args: readonly string[]) => (tools: CommandTools) => Promise<void>
}
