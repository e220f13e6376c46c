import { parseArgs } from 'node:util'
import { commands, maxWords } from './completion.ts'
import { UsageError } from './failures.ts'

export const usage =
  `dispatch login --url <address> [--device]         stores a key: one that you grant at the console, or one on standard input
dispatch send <service>[/<service> …] [<file>]    dispatches a request: JSON from a file or standard input
dispatch validate <service>[/<service> …] [<file>]
dispatch batch <service>[/<service> …] <file> [--common <file>] [--mapping <file>] [--valid]
                                                  sends each row of a CSV or NDJSON file, and follows them to their end
dispatch list [--status <status>] [--limit <number>]
dispatch show <dispatch>
dispatch tail [<dispatch>]                        follows a dispatch to its end, or all of the company
dispatch retry <dispatch>
dispatch listen [--forward <address>] [--limit <number>]
                                                  shows what callbacks tell, and forwards it, signed, to a receiver on this machine
dispatch trigger <event> --forward <address>      sends a receiver an event of this type, signed as "listen" does
dispatch templates pull [<folder>]                writes the company's templates into a folder, each as a JSON file
dispatch templates push <file>                    stores a template, or its next version
dispatch templates preview <template> --out <file> [--data <file>]
dispatch types [--out <file>]                     writes TypeScript types of the data of the templates
dispatch mcp                                      tools for an assistant, by the Model Context Protocol
dispatch completion bash|zsh|fish

--profile <name>  a service and its key; "default" unless given. DISPATCH_URL and DISPATCH_KEY go first.
--json            prints what the service answers, errors too
--version         prints the version of the API that the command speaks
--async, --sandbox, --strict, --key <idempotency key>    for what is sent

Exit codes: 0 done, 1 refused, 2 wrong usage, 3 the outcome is unknown, 4 not now or not reachable, 5 no access,
6 it waits until somebody else has approved it.`

export type Arguments = { name: string, words: readonly string[], values: Values }
export type Values = ReturnType<typeof parsed>['values']

/** What was typed: a command that there is, with no more words than it takes. */
export function readArguments (given: readonly string[]): Arguments {
  const { values, positionals: [name = '', ...words] } = parsed(given)
  if (values.help === true || values.version === true || name === 'help') return { name, words, values }
  if (!Object.hasOwn(commands, name)) throw new UsageError(name === '' ? usage : `There is no command "${name}".\n\n${usage}`)
  const spare = words[maxWords[name] ?? 1]
  if (spare !== undefined) {
    throw new UsageError(`"dispatch ${name}" has nothing to do with "${spare}": "dispatch --help" says what it takes.`)
  }
  return { name, words, values }
}

function parsed (given: readonly string[]) {
  return parseArgs({
    args: [...given],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      profile: { type: 'string', default: 'default' },
      json: { type: 'boolean' },
      async: { type: 'boolean' },
      sandbox: { type: 'boolean' },
      strict: { type: 'boolean' },
      key: { type: 'string' },
      status: { type: 'string' },
      limit: { type: 'string' },
      data: { type: 'string' },
      common: { type: 'string' },
      mapping: { type: 'string' },
      valid: { type: 'boolean' },
      device: { type: 'boolean' },
      forward: { type: 'string' },
      out: { type: 'string' },
      help: { type: 'boolean' },
      version: { type: 'boolean' }
    }
  })
}
