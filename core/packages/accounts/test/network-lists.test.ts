import fc from 'fast-check'
import { BlockList } from 'node:net'
import t from 'tap'
import { isAddressAllowed, normaliseNetwork } from '../access/networks.ts'

await t.test('a network has one way to be written', (t) => {
  const written = {
    '10.1.2.3/8': '10.0.0.0/8',
    '10.1.2.3': '10.1.2.3/32',
    '255.255.255.255/31': '255.255.255.254/31',
    '0.0.0.0/0': '0.0.0.0/0',
    '::1': '::1/128',
    '2001:DB8:0:0:1::1/33': '2001:db8::/33',
    '::/0': '::/0',
    '2001:0db8::0001:0000': '2001:db8::1:0/128',
    '::ffff:192.0.2.1': '192.0.2.1/32',
    '::ffff:10.9.9.9/104': '10.0.0.0/8',
    '::ffff:c000:201/128': '192.0.2.1/32',
    '::ffff:0:0/96': '0.0.0.0/0'
  }
  for (const [text, network] of Object.entries(written)) t.equal(normaliseNetwork(text), network, text)
  t.end()
})

await t.test('what readers could take for different networks is none', (t) => {
  const wrong = ['', ' ', 'localhost', '10.1', '10.1/16', '010.0.0.1', '0x7f.0.0.1', '2130706433', '10.0.0.0/33', '10.0.0.0/-1',
    '10.0.0.0/8/8', '10.0.0.0/', '10.0.0.0/08x', '::1/129', 'fe80::1%eth0', '[::1]', '10.0.0.0/255.0.0.0', '1.2.3.4:80', '１.2.3.4', '*',
    '10.0.0.0/1e1']
  for (const text of wrong) t.equal(normaliseNetwork(text), undefined, JSON.stringify(text))
  t.end()
})

const ipv4 = fc.tuple(fc.ipV4(), fc.nat(32))
const ipv6 = fc.tuple(fc.ipV6(), fc.nat(128))

await t.test('writing a network anew changes nothing', (t) => {
  fc.assert(fc.property(fc.oneof(ipv4, ipv6), ([address, length]) => {
    const network = normaliseNetwork(`${address}/${length}`)
    return network !== undefined && normaliseNetwork(network) === network
  }))
  t.end()
})

await t.test('a list lets in whom Node\'s own lists let in', (t) => {
  fc.assert(fc.property(fc.array(ipv4, { minLength: 1, maxLength: 3 }), fc.ipV4(), (list, client) => {
    const theirs = new BlockList()
    for (const [address, length] of list) theirs.addSubnet(address, length)
    const networks = list.map(([address, length]) => normaliseNetwork(`${address}/${length}`) ?? '')
    return isAddressAllowed(networks, client) === theirs.check(client) &&
      isAddressAllowed(networks, `::ffff:${client}`) === theirs.check(client)
  }))
  fc.assert(
    fc.property(ipv6.filter(([address]) => !address.startsWith('::')),
      ([address, length]) => isAddressAllowed([normaliseNetwork(`${address}/${length}`) ?? ''], address))
  )
  t.end()
})

await t.test('an empty list lets everybody in; the networks of one family let nobody of the other in', (t) => {
  t.equal(isAddressAllowed([], '192.0.2.1'), true)
  t.equal(isAddressAllowed(['::/0'], '192.0.2.1'), false)
  t.equal(isAddressAllowed(['0.0.0.0/0'], '2001:db8::1'), false)
  t.equal(isAddressAllowed(['0.0.0.0/0'], '::ffff:192.0.2.1'), true)
  t.equal(isAddressAllowed(['192.0.2.0/24', '2001:db8::/32'], '2001:db8::1'), true)
  t.end()
})
