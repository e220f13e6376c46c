import { beginLineage, markRestored, readLineage } from '@dispatch/database'
import { parseArgs } from 'node:util'
import { readConfig } from '../../plugins/config/config.ts'
import { openDataDirectory } from '../data-directory.ts'
import type { Command } from './command.ts'
import { withDatabase } from './database.ts'

/** Says that the database was restored, where no process can notice it by itself: on a new machine, or from a copy of a data directory. */
export const restored: Command = {
  summary: 'restored [--at <time>]   after a restore, before a start: what may have been sent since the backup is looked up before it is ' +
    'sent; --at is the time of the backup, such as 2026-03-14T03:00:00Z',
  async run (args, env) {
    const to = timeIn(args)
    const config = readConfig(env)
    openDataDirectory(config.dataDirectory)
    await withDatabase(config, async (database) => {
      const { lineage, at } = await readLineage(database)
      if (!await beginLineage(database, { lineage, to })) {
        throw new Error('A process has noticed the restore meanwhile: nothing more is to be done.')
      }
      const steps = await markRestored(database) ?? 0
      const since = to === undefined || to > at ? at : to
      console.log(`${steps} steps may have been done since ${since.toISOString()}: each is looked up before anything of it is sent.`)
    })
  }
}

/** Without "--", npm removes the name of the option and passes on only its value. */
function timeIn (args: readonly string[]): Date | undefined {
  const { values, positionals: [text = values.at, ...rest] } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { at: { type: 'string' } }
  })
  if (text === undefined && rest.length === 0) return undefined
  const time = new Date(String(text))
  if (rest.length > 0 || !/^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$/.test(String(text)) || !(time.getTime() <= Date.now())) {
    throw new Error('It is "restored", or "restored --at <time>" with a time in the past and its zone, such as 2026-03-14T03:00:00Z.')
  }
  return time
}
