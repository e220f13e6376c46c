/** The commands of operators: `npm run dispatch -- <command> …`. A failure is one sentence on standard error and exit code 1. */
import type { Command } from './commands/command.ts'
import { assertNode } from './node-version.mjs'

assertNode()
// Imported only after the version check, because an older Node cannot even link these modules; and each only when it is asked for.
const own = {
  operator: async () => (await import('./commands/operator.ts')).operator,
  migrate: async () => (await import('./commands/migrate.ts')).migration,
  keys: async () => (await import('./commands/keys.ts')).keys,
  providers: async () => (await import('./commands/providers.ts')).providers,
  restored: async () => (await import('./commands/restored.ts')).restored,
  tokens: async () => (await import('./commands/tokens.ts')).tokens
} satisfies Record<string, () => Promise<Command>>

const [name = '', ...args] = process.argv.slice(2)
try {
  const command = isOwn(name) ? await own[name]() : (await commandsOfFeatures()).get(name)
  if (command === undefined) fail(await usage())
  else await command.run(args, process.env)
} catch (error) {
  const { sentenceOf } = await import('./failure.ts')
  fail(sentenceOf(error))
}

function isOwn (name: string): name is keyof typeof own {
  return Object.hasOwn(own, name)
}

async function commandsOfFeatures (): Promise<ReadonlyMap<string, Command>> {
  const { featureCommands } = await import('./commands/of-feature.ts')
  return featureCommands()
}

async function usage (): Promise<string> {
  const commands = [...await Promise.all(Object.values(own).map((load) => load())), ...(await commandsOfFeatures()).values()]
  return `npm run dispatch -- <command>\n\n${commands.map(({ summary }) => `  ${summary}`).join('\n')}`
}

function fail (text: string): void {
  console.error(text)
  process.exitCode = 1
}
