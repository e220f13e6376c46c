/**
 * The process in which folders are tried before the service imports them: it imports each, and derives its manifest. Standard input has the
 * folders, standard output gets a line for each that is done; whoever is not done in time, or ends the process, shows thereby.
 */
import { text } from 'node:stream/consumers'
import { deriveManifest } from '../manifest/derive.ts'
import { importAnew } from './modules.ts'
import { placeIn } from './place.ts'
import type { TrialInput } from './trials.ts'

const write = process.stdout.write.bind(process.stdout)
const { word, folders } = JSON.parse(await text(process.stdin)) as TrialInput

// The service contains errors that nobody awaits, too.
const ignore = (): void => undefined
process.on('uncaughtException', ignore).on('unhandledRejection', ignore)
// A promise that never settles must not look like an end.
const alive = setInterval(ignore, 60_000)

write(`${word} ready\n`)
for (const { folder, entry } of folders) {
  try {
    const { default: definition } = await importAnew(folder, entry) as { default?: unknown }
    deriveManifest(definition, '1.0.0')
    write(`${word} done\n`)
  } catch (error) {
    write(`${word} done\n`)
    if (error instanceof SyntaxError && placeIn(error.stack ?? '', folder) === undefined) {
      // Only for an error that ends the process does Node print where it is.
      process.off('uncaughtException', ignore).off('unhandledRejection', ignore)
      throw error
    }
  }
}
clearInterval(alive)
process.exit()
