/** Sends the load of its argument, and prints autocannon's report. */
import autocannon from 'autocannon'
import type { Load } from './load.ts'

const { url, body, authorization = [], limit } = JSON.parse(process.argv[2] ?? '') as Load & { limit: object }
const headers = { 'content-type': 'application/json' }
const bearers = [authorization].flat()
const requests = bearers.length === 0 ? [{ headers }] : bearers.map((bearer) => ({ headers: { ...headers, authorization: bearer } }))
let clients = 0

const report = await autocannon({
  url,
  connections: 32,
  // Seconds for an answer: a busy machine is slow, and fails nothing.
  timeout: 60,
  method: 'POST',
  body: JSON.stringify(body),
  idReplacement: true,
  ...limit,
  // Each connection begins with another company, so that no company gets the requests of all connections at once.
  setupClient (client) {
    const first = clients++ % requests.length
    client.setRequests([...requests.slice(first), ...requests.slice(0, first)])
  }
})
console.log(JSON.stringify(report))
