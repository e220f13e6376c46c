import fc from 'fast-check'
import t from 'tap'
import { type ServiceName, serviceNames } from '../../services/names.ts'
import { chainBeginners, chainFault, chainFollowers, chains, isPath, longestChain, whatMayFollow } from '../request/chains.ts'

/** Every path of two to five services, with repetitions. */
const paths = [2, 3, 4, 5].flatMap((length) =>
  Array.from({ length }).reduce<ServiceName[][]>((shorter) => shorter.flatMap((path) => serviceNames.map((name) => [...path, name])), [[]])
)

const [makers, takers] = [['invoicing', 'esign', 'postal', 'file'], ['esign', 'postal', 'sms', 'email', 'upload']]

/** The rule as the contract has it, beside the declarations of the services. */
function isAllowed (path: readonly ServiceName[]): boolean {
  const [first = 'sms', ...later] = path
  return path.length <= 4 && makers.includes(first) && later.every((name) => takers.includes(name)) && new Set(path).size === path.length &&
    !path.slice(0, -1).includes('upload')
}

await t.test('a document is made first, then something is done with it', (t) => {
  t.strictSame(chainBeginners, makers)
  t.strictSame(chainFollowers, takers)
  t.equal(longestChain, 4)
  t.end()
})

await t.test('the table has every valid path of two to four services, and nothing else', (t) => {
  t.strictSame(chains.map((path) => path.join('/')), paths.filter(isAllowed).map((path) => path.join('/')))
  t.equal(chains.length, 164)
  t.end()
})

await t.test('what may follow a path is what makes a valid one of it', (t) => {
  const known = new Set(chains.map((path) => path.join('/')))
  for (const path of [...serviceNames.map((name) => [name]), ...chains]) {
    t.strictSame(whatMayFollow(path), serviceNames.filter((name) => known.has([...path, name].join('/'))), path.join('/'))
  }
  t.strictSame(whatMayFollow([]), serviceNames)
  t.end()
})

await t.test('every service may stand alone', (t) => {
  for (const name of serviceNames) t.ok(isPath([name]), name)
  t.notOk(isPath([]))
  t.end()
})

await t.test('an invalid path is told from a valid one, with what may follow in its place', (t) => {
  t.strictSame(paths.filter((path) => isPath(path) !== isAllowed(path)), [])
  t.strictSame(paths.filter((path) => (chainFault(path) === undefined) !== isAllowed(path)), [])
  const misplaced = paths.filter((path) => {
    const [, wrong, before = ''] = /^"(\w+)" cannot follow "([\w/]+)": (?:there|nothing) may follow/.exec(chainFault(path) ?? '') ?? []
    return wrong !== undefined && !(isPath(before.split('/') as ServiceName[]) && `${path.join('/')}/`.startsWith(`${before}/${wrong}/`))
  })
  t.strictSame(misplaced, [])
  t.equal(chainFault(['file', 'email', 'invoicing']),
    '"invoicing" cannot follow "file/email": there may follow esign, postal, sms, upload.')
  t.equal(chainFault(['sms', 'email']),
    '"email" cannot follow "sms": nothing may follow it; a chain begins with invoicing, esign, postal, file, and has 4 services at most.')
  t.end()
})

await t.test('however long a path is, its fault is told briefly', (t) => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...serviceNames), { minLength: 5, maxLength: 50 }),
      (path) => (chainFault(path)?.length ?? 999) < 250)
  )
  t.end()
})
