import { errorMessageOf } from '@dispatch/common'
import { folderDigest, type InstalledProvider, loadProvider } from '@dispatch/host'
import { realpath } from 'node:fs/promises'
import { basename } from 'node:path'
import { readFixtures } from './fixtures/fixtures.ts'
import { type Case, type ConformanceReport, type ConformanceRule, judged } from './report.ts'
import { cancelCases } from './rules/cancel.ts'
import { carriedCases } from './rules/carried.ts'
import { checkedCases, suggestedCases } from './rules/checked.ts'
import { conductCases, documentCases } from './rules/conduct.ts'
import { containedCases } from './rules/contained.ts'
import { directedCases } from './rules/directed.ts'
import { foreseenCases } from './rules/foreseen.ts'
import { freshCases } from './rules/fresh.ts'
import { idempotencyCases } from './rules/idempotency.ts'
import { incomingCases } from './rules/incoming.ts'
import { lateCases } from './rules/late.ts'
import { mailCases } from './rules/mails.ts'
import { outcomeCases } from './rules/outcomes.ts'
import { placedCases } from './rules/placed.ts'
import { provedCases } from './rules/proved.ts'
import { refusalCases } from './rules/refusals.ts'
import { blindCases, fixtureCases, questionCases, replayCases } from './rules/replay.ts'
import { saidCases } from './rules/said.ts'
import { sandboxedCases } from './rules/sandboxed.ts'
import { settingsCases } from './rules/settings.ts'
import { shownCases } from './rules/shown.ts'
import { signedCases } from './rules/signed.ts'
import { subscribedCases } from './rules/subscribed.ts'
import { tenantCases } from './rules/tenants.ts'
import { valueCases } from './rules/values.ts'
import { variedCases } from './rules/varied.ts'
import { webhookCases } from './rules/webhooks.ts'
import { withdrawnCases } from './rules/withdrawn.ts'
import { statusWordCases } from './rules/words.ts'
import { prepareQuestion, prepareSend } from './run/prepare.ts'
import { type KitStep, type Progress, progressTo } from './run/progress.ts'
import { createSubject, type ProviderUnderTest, ready } from './run/subject.ts'
import { errorWithStack } from './run/trace.ts'
import { createVendorDouble } from './run/vendor-double.ts'
import { type Watch, watchProcess } from './run/watch.ts'

/** The time limit in seconds for loading a provider: as long as the service gives one that it tries again. */
const loadLimit = 60
/** The default time limit in milliseconds for one call. */
const usualLimit = 10_000
const longestEnd = 2_000

/**
 * `only`: the rules to check, by default all. `limit`: the time limit in milliseconds for one call of a verb, by default 10,000. `load`:
 * loads the provider, by default into this process. `onStep`: is told what the kit does next.
 */
export type ConformanceOptions = {
  only?: readonly ConformanceRule[]
  limit?: number
  load?: typeof loadProvider
  onStep?: (step: KitStep) => void
}

/**
 * Checks a provider against all rules of the contract, on the real host, with a test vendor that follows the provider's fixtures. It never
 * throws for a fault of the provider: that is a failed case.
 */
export async function runConformance (
  folder: string,
  { only, limit = usualLimit, load: loadWith = loadProvider, onStep = () => undefined }: ConformanceOptions = {}
): Promise<ConformanceReport> {
  const real = await realpath(folder)
  const watch = watchProcess(real)
  const progress = progressTo(onStep)
  try {
    progress.check('manifest')
    const loaded = await load(real, loadWith)
    const quiet = judged('quiet', 'while it is loaded', [...new Set(watch.connected())].map((host) => `It connects to "${host}".`))
    if ('why' in loaded) {
      return {
        provider: basename(folder),
        cases: [judged('manifest', 'the folder', [loaded.why]), quiet, ...await containedCases(watch, real)]
      }
    }
    const fixtures = await readFixtures(loaded.folder)
    const stages = await Promise.all([createVendorDouble(), createVendorDouble()])
    try {
      const limits = { limit, endLimit: Math.min(limit, longestEnd) }
      const loadAnew = async (): Promise<InstalledProvider> => progress.follow(await loadWith(real, loaded.digest, loadLimit))
      const subject = createSubject(progress.follow(loaded), fixtures, stages, limits, loadAnew)
      const cases = [
        judged('manifest', 'the folder', []),
        quiet,
        ...await casesOf(subject, watch, progress, (...rules) => only === undefined || rules.some((rule) => only.includes(rule)))
      ]
      return { provider: loaded.code, cases: cases.filter(({ rule }) => only?.includes(rule) ?? true) }
    } finally {
      await Promise.all(stages.map((stage) => stage.close()))
    }
  } finally {
    watch.stop()
  }
}

async function load (folder: string, loadWith: typeof loadProvider): Promise<InstalledProvider | { why: string }> {
  try {
    return await loadWith(folder, await folderDigest(folder), loadLimit)
  } catch (error) {
    const { cause } = error instanceof Error ? error : {}
    return { why: [errorMessageOf(error), ...cause instanceof Error ? [errorWithStack(cause, folder)] : []].join('\n') }
  }
}

/** The cases of all rules. A rule that was not asked for is skipped if that saves its runs. */
async function casesOf (
  subject: ProviderUnderTest,
  watch: Watch,
  progress: Progress,
  asks: (...rules: ConformanceRule[]) => boolean
): Promise<Case[]> {
  const { installed, fixtures } = subject
  progress.check('replay')
  const questions = ready(fixtures.questions, (named) => prepareQuestion(installed, named))
  const sends = ready(fixtures.sends, (named) => prepareSend(installed, named))
  const replayed = await replayCases(subject, sends)
  const fit = replayed.fit.map(({ prepared }) => prepared)
  const when = async (rules: ConformanceRule[], cases: () => Promise<Case[]>): Promise<Case[]> => {
    if (!asks(...rules)) return []
    progress.check(...rules)
    return await cases()
  }
  const played = [
    await when(['question'], () => questionCases(subject, questions)),
    await when(['blind'], () => blindCases(subject, questions)),
    await when(['outcome', 'once', 'checkpoint', 'mapped', 'ends', 'secrets'], () => outcomeCases(subject, replayed.fit)),
    await when(['refusals'], () => Promise.resolve(refusalCases(subject, [...fit, ...questions]))),
    await when(['outcome', 'ends', 'secrets'], () => mailCases(subject, fit)),
    await when(['key', 'found'], () => idempotencyCases(subject, fit)),
    await when(['late'], () => lateCases(subject, replayed.fit, questions)),
    await when(['cancel'], () => cancelCases(subject, { questions, fit })),
    await when(['said'], () => saidCases(subject, questions)),
    await when(['directed'], () => Promise.resolve(directedCases(subject, questions))),
    await when(['incoming'], () => Promise.resolve(incomingCases(subject, questions))),
    await when(['subscribed'], () => subscribedCases(subject, questions)),
    await when(['checked'], () => checkedCases(subject)),
    await when(['suggested'], () => suggestedCases(subject)),
    await when(['carried'], () => carriedCases(subject, fit)),
    await when(['values'], () => valueCases(subject, fit)),
    await when(['varied'], () => variedCases(subject, fit)),
    await when(['placed'], () => placedCases(subject, fit)),
    await when(['fresh'], () => freshCases(subject, fit)),
    await when(['sandboxed'], () => sandboxedCases(subject, fit, questions)),
    await when(['withdrawn'], () => withdrawnCases(subject, replayed.fit)),
    await when(['proved'], () => provedCases(subject, replayed.fit)),
    await when(['tenants'], () => tenantCases(subject, fit)),
    await when(['documents'], () => documentCases(subject, fit)),
    await when(['words'], () => statusWordCases(subject, questions)),
    await when(['signed'], () => signedCases(subject)),
    await when(['webhook', 'words', 'unknown', 'forged', 'repeated', 'malformed'], () => webhookCases(subject))
  ]
  progress.check('foreseen')
  return [
    ...settingsCases(subject),
    ...fixtureCases(subject),
    ...shownCases(subject, sends),
    ...await foreseenCases(subject, sends),
    ...replayed.cases,
    ...played.flat(),
    ...conductCases(subject, watch),
    ...await containedCases(watch, subject.installed.folder)
  ]
}
