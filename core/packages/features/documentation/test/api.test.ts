import t from 'tap'
import { contains, lacks } from '../../../../../test/support/matching.ts'
import { apiPages } from '../service/api.ts'

void t.test('the reference says what a request needs, leads to errors of one word, and lists what has no group', (t) => {
  const schema = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const object = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const body = (name: string) => ({ content: { 'application/json': { schema: schema(name) } } })
  const post = {
    operationId: 'createThing',
    tags: ['Things'],
    summary: 'Creates a thing.',
    description: 'It is new.',
    requestBody: body('Thing'),
    responses: { 200: { description: 'It.', ...body('ThingView') }, default: { description: '`forbidden` (403): no. `later` (200): x.' } }
  }
  const pages = apiPages({
    info: { version: '1.1.0' },
    tags: [{ name: 'Known', description: 'Known.' }],
    paths: { '/things': { post }, '/known': { get: { ...post, operationId: 'readKnown', tags: ['Known'], requestBody: undefined } } },
    webhooks: {},
    components: { schemas: { Thing: { ...object, properties: { name: schema('Name') } }, Name: object, ThingView: object } }
  })
  const page = (address: string) => pages.find((one) => one.address === address)?.markdown
  for (const type of ['Thing', 'Name']) contains(t, page(`reference/types/${type}`), 'Needed.')
  contains(t, page('reference/types/ThingView'), 'Always there.')
  contains(t, page('reference/createThing'), '[`forbidden`](/docs/errors/forbidden)')
  lacks(t, page('reference/createThing'), 'errors/later')
  contains(t, page('reference'), /## Known.*readKnown.*## Others.*createThing/s)
  lacks(t, page('reference'), /## Others.*readKnown/s)
  t.end()
})
