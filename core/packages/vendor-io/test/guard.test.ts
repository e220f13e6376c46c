import fc from 'fast-check'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { has } from '../../../../test/support/matching.ts'
import { canonicalHost, createGuard, type Guard, isNetwork, loopback } from '../http/guard.ts'
import { ForbiddenAddress } from '../outcome/forbidden-address.ts'

const refusedAddresses: [kind: string, ...addresses: string[]][] = [
  ['loopback', '127.0.0.1', '127.255.255.254', '::1'],
  ['unspecified', '0.0.0.0', '0.1.2.3', '::'],
  ['private', '10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  ['shared (CGNAT)', '100.64.0.1', '100.127.255.255'],
  ['link-local', '169.254.0.1', 'fe80::1', 'febf::1'],
  ['the metadata of clouds', '169.254.169.254', '169.254.170.2', 'fd00:ec2::254'],
  ['unique local', 'fc00::1', 'fdff::1'],
  ['NAT64', '64:ff9b::7f00:1', '64:ff9b::a00:1', '64:ff9b:1::1'],
  ['6to4', '2002:7f00:1::', '2002:a00:1::1', '192.88.99.1'],
  ['Teredo', '2001::1', '2001:0:5ef5:79fd::1'],
  ['IPv4 mapped into IPv6', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:169.254.169.254'],
  ['IPv4 in IPv6 in other ways', '::127.0.0.1', '::ffff:0:127.0.0.1'],
  ['multicast', '224.0.0.1', '239.255.255.250', 'ff02::1'],
  ['broadcast and reserved', '255.255.255.255', '240.0.0.1'],
  ['documentation', '192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  ['benchmarks and protocols', '198.18.0.1', '192.0.0.8', '2001:2::1', '2001:20::1'],
  ['outside the global unicast space', '100::1', '4000::1', '5f00::1', '::2'],
  ['no address at all', '', 'localhost', '1.2.3', '256.1.1.1', '127.0.0.1:80', '[2606:4700::1111]']
]

for (const [kind, ...addresses] of refusedAddresses) {
  void t.test(`refused: ${kind}`, (t) => {
    const { permits } = createGuard()
    t.strictSame(addresses.filter(permits), [])
    t.end()
  })
}

void t.test('public unicast addresses are permitted, mapped ones too', (t) => {
  const { permits } = createGuard()
  const addresses = ['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700::1111', '2a00:1450::1', '::ffff:8.8.8.8', '172.15.0.1', '172.32.0.1',
    '100.63.255.255', '100.128.0.1']
  t.strictSame(addresses.filter((address) => !permits(address)), [])
  t.end()
})

void t.test('an operator\'s networks are permitted beside the public ones, and nothing around them', (t) => {
  const { permits } = createGuard({ allow: ['10.1.0.0/16', 'fd00:1::/32', ...loopback] })
  t.strictSame(['10.1.2.3', '::ffff:10.1.2.3', 'fd00:1::1', '127.0.0.1', '::1', '8.8.8.8'].map(permits), Array(6).fill(true))
  t.strictSame(['10.2.0.1', 'fd00:2::1', '192.168.0.1', '::'].map(permits), Array(4).fill(false))
  t.throws(() => createGuard({ allow: ['10.0.0.0'] }), { message: '"10.0.0.0" is not a network such as 10.0.0.0/8 or fd00::/8.' })
  t.strictSame(['10.0.0.0/8', 'fd00::/8', '10.0.0.0', '10.0.0.0/33', 'x'].map(isNetwork), [true, true, false, false, false])
  t.end()
})

void t.test('no address within a refused network gets through, however it is written', (t) => {
  const { permits } = createGuard()
  const octet = fc.integer({ min: 0, max: 255 })
  fc.assert(fc.property(fc.constantFrom([10], [127], [169, 254], [192, 168], [0]), octet, octet, octet, (prefix, a, b, c) => {
    const bytes = [...prefix, a, b, c].slice(0, 4)
    const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')
    return !permits(bytes.join('.')) && !permits(`::ffff:${bytes.join('.')}`) && !permits(`::ffff:${hex.slice(0, 4)}:${hex.slice(4)}`)
  }))
  t.end()
})

void t.test('a host is what a connection makes of it', (t) => {
  const hosts: [string, string | undefined][] = [
    ['API.Example.COM', 'api.example.com'],
    ['2130706433', '127.0.0.1'],
    ['0x7f000001', '127.0.0.1'],
    ['0x7f.1', '127.0.0.1'],
    ['0177.0.0.1', '127.0.0.1'],
    ['127.1', '127.0.0.1'],
    ['127.0.0.1.', '127.0.0.1'],
    ['１２７.０.０.１', '127.0.0.1'],
    ['ⓔxample.com', 'example.com'],
    ['bücher.example', 'xn--bcher-kva.example'],
    ['::1', '[::1]'],
    ['[::1]', '[::1]'],
    ['', undefined],
    ['user@example.com', undefined],
    ['example.com:25', undefined],
    ['example.com/path', undefined],
    ['exa mple.com', undefined],
    ['256.1.1.1', undefined]
  ]
  for (const [host, canonical] of hosts) t.equal(canonicalHost(host), canonical, host)
  t.end()
})

/** What is said of a name that may not be used. */
const refused = { name: 'NoUsableAddress', code: 'ENOTFOUND', cause: ForbiddenAddress }

/** What a lookup of the guard comes to. */
function look (guard: Guard, all: boolean): Promise<unknown> {
  return new Promise((resolve) =>
    guard.lookup('host.test', { all }, (error, address, family) => resolve(error ?? (all ? address : { address, family })))
  )
}

void t.test('a name', async (t) => {
  await t.test('whose addresses are all public is looked up once and used as it was checked', async (t) => {
    let requested = 0
    const guard = createGuard({
      resolve: () => {
        requested++
        return Promise.resolve(['8.8.8.8', '2606:4700::1111'])
      }
    })
    t.strictSame(await look(guard, true), [{ address: '8.8.8.8', family: 4 }, { address: '2606:4700::1111', family: 6 }])
    t.strictSame(await look(guard, false), { address: '8.8.8.8', family: 4 })
    t.equal(requested, 2)
  })

  await t.test('that is not there, and one of which any address is not public, are refused in the same ' +
    'words and the same time', async (t) => {
    const answers: Record<string, () => Promise<string[]>> = {
      'inside': () => Promise.resolve(['10.0.0.1']),
      'one of two inside': () => Promise.resolve(['8.8.8.8', '10.0.0.1']),
      'without an address': () => Promise.resolve([]),
      'unknown': () => pause(200).then(() => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))),
      'not resolved': () => Promise.reject(Object.assign(new Error('no resolver'), { code: 'EAI_AGAIN' }))
    }
    await Promise.all(Object.entries(answers).map(async ([name, resolve]) => {
      const begun = performance.now()
      const error = await look(createGuard({ resolve }), name === 'inside')
      t.ok(performance.now() - begun > 490, name)
      has(t, error, { code: 'ENOTFOUND', message: 'The host "host.test" has no permitted address.' }, name)
    }))
  })

  await t.test('of this machine is refused with the real resolver', async (t) => {
    const error = await new Promise((resolve) =>
      connect({ host: 'localhost', port: 9, lookup: createGuard().lookup }).once('error', resolve)
    )
    has(t, error, refused)
  })

  await t.test('that changes its address after the check is reached where it was checked', async (t) => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const answers = [['127.0.0.1'], ['127.0.0.2']]
    const guard = createGuard({ allow: ['127.0.0.1/32'], resolve: () => Promise.resolve(answers.shift() ?? []) })
    const { port } = server.address() as AddressInfo
    const socket = connect({ host: 'rebound.test', port, lookup: guard.lookup })
    await once(socket, 'connect')
    t.equal(socket.remoteAddress, '127.0.0.1')
    socket.destroy()
    has(t, await new Promise((resolve) => connect({ host: 'rebound.test', port, lookup: guard.lookup }).once('error', resolve)), refused)
  })
})

void t.test('a literal address, which no lookup sees, is checked by itself', (t) => {
  const guard = createGuard()
  for (const host of ['127.0.0.1', '::1', '[::1]', '169.254.169.254']) t.throws(() => guard.check(host), ForbiddenAddress, host)
  for (const host of ['8.8.8.8', '[2606:4700::1111]', 'example.com', 'localhost']) t.doesNotThrow(() => guard.check(host), host)
  t.end()
})
