import { copyJson, namedHosts, secretNames } from '@dispatch/host'
import { isDeclared } from '@dispatch/vendor-io'
import { isDeepStrictEqual } from 'node:util'
import { type Case, judged, skipped } from '../report.ts'
import { reveals } from '../run/canary.ts'
import { inTurn } from '../run/in-turn.ts'
import { type Prepared, prepareSend } from '../run/prepare.ts'
import type { ProviderUnderTest, RecordedRun } from '../run/subject.ts'
import type { Watch } from '../run/watch.ts'
import { credentialCases, loggedCredentials } from './credentials.ts'
import { compareRun } from './replay.ts'

/** The behaviour of the provider in all earlier runs. */
export function conductCases (subject: ProviderUnderTest, watch: Watch): Case[] {
  const { installed: { code, manifest }, recorded } = subject
  const secrets = secretNames(manifest.settings)
  const faults = (find: (one: RecordedRun) => readonly string[]): string[] => [
    ...new Set(recorded.flatMap((one) => find(one).map((fault) => `${one.name}: ${fault}`)))
  ]
  const console = [...new Set(recorded.flatMap(({ canaries }) => canaries))].filter(({ is }) => reveals(watch.printed(), is)).map(
    ({ field }) => `"${field}" was printed.`
  )
  return [
    judged('plain', 'every answer', faults(plainFaults)),
    judged('arguments', 'every call', faults(({ run }) => run.seen.changed ? ['The request or the settings were changed.'] : [])),
    judged('ends', 'every call',
      faults(({ run }) => run.seen.ended ? [] : ['It went on after its call had ended: wait with context.wait(), and let errors pass.'])),
    ...credentialCases(subject, watch),
    judged('secrets', 'in the log', faults((one) => {
      const lines = one.run.lines.filter(({ message }) => !hostLines.has(message))
      return [...lines.flatMap((line) => shownIn('a log line', line, one.canaries)), ...loggedCredentials(one, lines, secrets)]
    })),
    judged('secrets', 'in errors',
      faults(({ run, canaries }) =>
        'error' in run.result ? shownIn('an error', [run.result.error, String(run.seen.thrown)], canaries) : []
      )),
    judged('secrets', 'in answers',
      faults(({ run, canaries }) => run.result.outcome === 'accepted' ? shownIn('an answer', run.result.response, canaries) : [])),
    judged('secrets', 'on the console', [...new Set(console)]),
    judged('hosts', 'by the context', faults(({ run }) => run.seen.refused)),
    ...namedHosts(manifest.hosts).map((pattern) =>
      judged('hosts', `hosts that the vendor names: ${pattern}`, recorded.some(({ run }) =>
          run.requests.some(({ request: { host } }) => isDeclared(host, [pattern]))
        )
        ? []
        : ['No fixture has a request to one: write one in which the vendor names an address there, and it is asked.'])
    ),
    judged('hosts', 'past the context',
      [...new Set(watch.connected())].map((host) => `The provider "${code}" connected to "${host}" by itself: use context.http.`))
  ]
}

/** Lines that the host itself writes, with URLs that may contain a key. */
const hostLines = new Set(['vendor called', 'mail server called'])

function shownIn (where: string, value: unknown, canaries: RecordedRun['canaries']): string[] {
  const text = JSON.stringify(value, (_key, inner: unknown) => inner instanceof Error ? `${inner.message} ${inner.stack ?? ''}` : inner)
  const shown = canaries.filter(({ is }) => reveals(text, is)).map(({ field }) => `"${field}" shows in ${where}.`)
  return [...shown, ...shown.length === 0 && text.includes('[redacted]') ? [`A secret was put into ${where}; the host took it out.`] : []]
}

function plainFaults ({ run: { seen: { returned } } }: RecordedRun): string[] {
  if (returned === undefined) return []
  const copied = copyJson(returned)
  if (!copied.ok) return copied.problems.map(({ message }) => message)
  return isDeepStrictEqual(copied.value, returned) ? [] : ['It has fields that JSON does not carry.']
}

/** The size of a large document in bytes. */
const large = 8 * 1024 * 1024

/** Replaces the documents of a dispatch by large ones. */
export async function documentCases (subject: ProviderUnderTest, fit: readonly Prepared[]): Promise<Case[]> {
  const { installed, fixtures: { sends } } = subject
  const names = new Set(fit.filter(sendsDocument).map(({ name }) => name))
  const [named] = sends.filter(({ name, fixture }) => names.has(name) && fixture.result.outcome === 'accepted')
  if (named === undefined) return [skipped('documents', 'a large document', 'No accepted fixture sends a document.')]
  return await inTurn([named], async (fixture) => {
    const prepared = prepareSend(installed, fixture, { content: Buffer.alloc(large, '%PDF-1.7 ') })
    return judged('documents', `${fixture.name}: with ${large} bytes`, compareRun(prepared, await subject.play(prepared)))
  })
}

/** Whether an exchange has a document in it: named, or in base64. */
function sendsDocument ({ call: { exchange }, filling: { documents } }: Prepared): boolean {
  const requests = JSON.stringify(exchange.map(({ expect }) => expect))
  // In parts, a larger one takes more requests than the fixture has.
  if (/"content-range":/i.test(requests)) return false
  return requests.includes('"document":') || [...documents.values()].some((bytes) => requests.includes(bytes.toString('base64')))
}
