import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { digestOf } from '../host/folder.ts'
import { loadProvider, type Installed } from '../host/load.ts'
import { reasonOf } from '../host/refusal.ts'
import { readFixtures } from './fixtures.ts'
import { prepareQuestion, prepareSend } from './prepare.ts'
import { judged, type Case, type Report } from './report.ts'
import { conductCases, documentCases } from './rules/conduct.ts'
import { idempotencyCases } from './rules/idempotency.ts'
import { outcomeCases } from './rules/outcomes.ts'
import { fixtureCases, questionCases, replayCases } from './rules/replay.ts'
import { settingsCases } from './rules/settings.ts'
import { createSubject, ready, type Subject } from './rules/subject.ts'
import { tenantCases } from './rules/tenants.ts'
import { webhookCases } from './rules/webhooks.ts'
import { createStage } from './stage.ts'
import { watchProcess, type Watch } from './watch.ts'

/** Seconds that a provider may take to load. */
const loadLimit = 10

/**
 * Tries everything that the contract demands of a provider, on the real host, against a vendor that plays its fixtures.
 * Never throws for what the provider does: that is a failed case.
 */
export async function runConformance (folder: string): Promise<Report> {
  const watch = watchProcess()
  try {
    const loaded = await load(folder)
    const quiet = judged('quiet', 'while it is loaded', [...new Set(watch.connected())].map((host) => `It connects to "${host}".`))
    if ('why' in loaded) return { provider: basename(folder), cases: [judged('manifest', 'the folder', [loaded.why]), quiet] }
    const fixtures = await readFixtures(loaded.folder)
    const stages = await Promise.all([createStage(), createStage()])
    try {
      const cases = await casesOf(createSubject(loaded, fixtures, stages), watch)
      return { provider: loaded.code, cases: [judged('manifest', 'the folder', []), quiet, ...cases] }
    } finally {
      await Promise.all(stages.map((stage) => stage.close()))
    }
  } finally {
    watch.stop()
  }
}

async function load (folder: string): Promise<Installed | { why: string }> {
  try {
    const real = await realpath(folder)
    return await loadProvider(real, await digestOf(real), loadLimit)
  } catch (error) {
    return { why: reasonOf(error) }
  }
}

async function casesOf (subject: Subject, watch: Watch): Promise<Case[]> {
  const { installed, fixtures } = subject
  const sends = ready(fixtures.sends, (named) => prepareSend(installed, named))
  const questions = ready(fixtures.questions, (named) => prepareQuestion(installed, named))
  const replayed = await replayCases(subject, sends)
  const fit = replayed.fit.map(({ prepared }) => prepared)
  const asked = await questionCases(subject, questions)
  const outcomes = await outcomeCases(subject, replayed.fit)
  const idempotency = await idempotencyCases(subject, fit)
  const tenants = await tenantCases(subject, fit)
  const documents = await documentCases(subject, fit)
  const webhooks = await webhookCases(subject)
  return [
    ...settingsCases(subject), ...fixtureCases(subject), ...replayed.cases, ...asked, ...outcomes, ...idempotency,
    ...tenants, ...documents, ...conductCases(subject, watch), ...webhooks
  ]
}
