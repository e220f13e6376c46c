import { namedHosts } from '@dispatch/host'
import { isDeclared } from '@dispatch/vendor-io'
import { askAgain } from '../interrogation/ask.ts'
import { differing, factsOf } from '../interrogation/facts.ts'
import { type Case, judged } from '../report.ts'
import { inTurn } from '../run/in-turn.ts'
import type { Prepared } from '../run/prepare.ts'
import type { CallRun } from '../run/run.ts'
import { patientVendor } from '../run/scripted-vendor.ts'
import type { ProviderUnderTest } from '../run/subject.ts'
import { type Base, baseOf, kindOf } from '../values/trial.ts'

/**
 * Makes each kind of dispatch in a sandbox, too. Where its requests go to another host, none may go to that of production, a question or a
 * cancellation neither; where they go to the same, what changes something must say that it is a test. A vendor whose key decides
 * (`sandbox.key`) needs neither. Hosts that the vendor names are its own choice in each environment.
 */
export async function sandboxedCases (
  subject: ProviderUnderTest,
  fit: readonly Prepared[],
  questions: readonly Prepared[]
): Promise<Case[]> {
  const { sandbox, hosts } = subject.installed.manifest
  const named = namedHosts(hosts)
  if (sandbox === undefined || (sandbox.kind === 'configuration' && sandbox.key !== undefined)) return []
  const bases = fit.flatMap((prepared) => baseOf(subject, prepared) ?? []).filter(({ prepared: { call } }) =>
    !call.sandbox && call.exchange.length > 0
  )
  const pairs = await inTurn([...Map.groupBy(bases, kindOf).values()].flatMap(([first]) => first ?? []),
    async (base) => await pairOf(subject, base))
  const found = pairs.flatMap((pair) => pair ?? [])
  const real = new Set(found.flatMap(({ real: { requests } }) => hostsOf(requests)).filter((host) => !isDeclared(host, named)))
  const test = new Set(found.flatMap(({ test: { requests } }) => hostsOf(requests)))
  // A vendor with an environment of its own for tests has a host that production does not have.
  const separate = [...test].some((host) => !real.has(host))
  const requested = separate
    ? await inTurn(questions.filter(({ call }) => call.exchange.length > 0),
      async (prepared) => await questionCase(subject, prepared, real))
    : []
  return [...found.map((pair) => dispatchCase(pair, separate ? real : undefined)), ...requested.flat()]
}

type Pair = { base: Base, real: CallRun, test: CallRun }

async function pairOf (subject: ProviderUnderTest, base: Base): Promise<Pair | undefined> {
  const { run: real } = await askAgain(subject, base, { sandbox: false })
  const { run: test } = await askAgain(subject, base, { sandbox: true })
  return test.requests.length === 0 ? undefined : { base, real, test }
}

function hostsOf (requests: CallRun['requests']): string[] {
  return requests.map(({ request: { host } }) => host)
}

function dispatchCase ({ base: { prepared: { name } }, real, test }: Pair, production: ReadonlySet<string> | undefined): Case {
  const same = differing(factsOf(real), factsOf(test)).length === 0
  return judged('sandboxed', `${name}: in a sandbox`, [
    ...same ? ['The vendor gets the same as in production: use its test environment where context.sandbox is true.'] : [],
    ...strays(test, production)
  ])
}

function strays ({ requests }: CallRun, production: ReadonlySet<string> | undefined): string[] {
  return requests.flatMap(({ request: { method, host, path } }, index) =>
    production?.has(host) === true
      ? [`Request ${index + 1} (${method} ${path}) goes to "${host}", which is production: use the host of the test environment.`]
      : []
  )
}

async function questionCase (subject: ProviderUnderTest, prepared: Prepared, production: ReadonlySet<string>): Promise<Case[]> {
  const run = await subject.play({ ...prepared, call: { ...prepared.call, sandbox: true } }, {}, patientVendor)
  return [judged('sandboxed', `${prepared.name}: in a sandbox`, strays(run, production))]
}
