import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Fit } from '../contract/schema.ts'
import { reasonOf } from '../host/refusal.ts'
import { verbNames, type VerbName } from '../host/verbs.ts'
import { fitEvent, fitQuestion, fitSend, type Event, type Question, type Send } from './fixture.ts'

/** A fixture by the name of its file, without `.json`. */
export type Named<Fixture> = { name: string, fixture: Fixture }

/** All fixtures of a provider, and what is wrong with those that cannot be used: one sentence each. */
export type Fixtures = {
  sends: Named<Send>[]
  questions: Named<Question & { verb: Exclude<VerbName, 'dispatch'> }>[]
  events: Named<Event>[]
  faults: { name: string, why: string }[]
}

/** Reads `fixtures/*.json` of a provider's folder. A folder without fixtures has none. */
export async function readFixtures (folder: string): Promise<Fixtures> {
  const directory = join(folder, 'fixtures')
  const files = (await readdir(directory).catch(() => [])).filter((file) => file.endsWith('.json')).sort()
  const fixtures: Fixtures = { sends: [], questions: [], events: [], faults: [] }
  for (const file of files) await readInto(fixtures, directory, file)
  return fixtures
}

async function readInto (fixtures: Fixtures, directory: string, file: string): Promise<void> {
  const name = file.replace(/\.json$/, '')
  const [prefix = ''] = name.split('.')
  const verb = verbNames.find((known) => known !== 'dispatch' && known === prefix)
  try {
    const json: unknown = JSON.parse(await readFile(join(directory, file), 'utf8'))
    if (prefix === 'send') fixtures.sends.push({ name, fixture: fitting(fitSend(json)) })
    else if (prefix === 'webhook') fixtures.events.push({ name, fixture: fitting(fitEvent(json)) })
    else if (verb !== undefined && verb !== 'dispatch') fixtures.questions.push({ name, fixture: { ...fitting(fitQuestion(json)), verb } })
    else throw new Error(`A fixture is called send.….json, webhook.….json or after a verb: ${verbNames.filter((known) => known !== 'dispatch').map((known) => `${known}.….json`).join(', ')}.`)
  } catch (error) {
    fixtures.faults.push({ name, why: `fixtures/${file}: ${reasonOf(error)}` })
  }
}

function fitting<Fixture> (fit: Fit<Fixture>): Fixture {
  if (fit.ok) return fit.value
  throw new Error(fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' '))
}
