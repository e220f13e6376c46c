import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { createAuthority } from '../vendor/certificates.ts'

await t.test('certificates are valid at once, also for a client whose clock is half an hour behind', async (t) => {
  const authority = await createAuthority()
  const { cert } = await authority.issue('vendor.example.com')
  for (const pem of [authority.ca, cert]) {
    const { validFromDate, validToDate } = new X509Certificate(pem)
    t.ok(validFromDate.getTime() < Date.now() - 1_800_000, validFromDate.toISOString())
    t.ok(validToDate.getTime() > Date.now() + 24 * 3_600_000, validToDate.toISOString())
  }
  t.equal(new X509Certificate(cert).checkIssued(new X509Certificate(authority.ca)), true)
})
