/** The commands of operators: `npm run dispatch -- <command> …`. A failure is one sentence on standard error and exit code 1. */
import type { Command } from './commands/command.ts'
import { assertNode } from './node-version.mjs'

assertNode()
// Imported only after the version check, because an older Node cannot even link these modules.
const { keys } = await import('./commands/keys.ts')
const { migration } = await import('./commands/migrate.ts')
const { featureCommands } = await import('./commands/of-feature.ts')
const { operator } = await import('./commands/operator.ts')
const { providers } = await import('./commands/providers.ts')
const { restored } = await import('./commands/restored.ts')
const { tokens } = await import('./commands/tokens.ts')
const { sentenceOf } = await import('./failure.ts')

const own: Readonly<Record<string, Command>> = { operator, migrate: migration, keys, providers, restored, tokens }

const [name = '', ...args] = process.argv.slice(2)
try {
  const commands = Object.hasOwn(own, name) ? own : { ...own, ...await featureCommands() }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) fail(usageOf(commands))
  else await command.run(args, process.env)
} catch (error) {
  fail(sentenceOf(error))
}

function usageOf (commands: typeof own): string {
  return `npm run dispatch -- <command>\n\n${Object.values(commands).map(({ summary }) => `  ${summary}`).join('\n')}`
}

function fail (text: string): void {
  console.error(text)
  process.exitCode = 1
}
