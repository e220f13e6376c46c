import { AlertCallback, alertTypes, ApprovalCallback, approvalTypes, BatchCallback, BudgetCallback, type CallbackType, callbackTypes,
  CompanyCallback, deliveryMarksOf, deliveryServices, deliveryStatusesOf, DispatchCallback, EndpointCallback, endpointTypes, isBatchType,
  isSince, notifiedStatuses, ReceivedCallback, receivedTypes, sinceOf, TestCallback, testType, type Version } from '@dispatch/contract'
import { addComponent, type Components, nameSchemas, type OpenApiObject } from './components.ts'
import { withExamples } from './examples.ts'

/** The types of callbacks that dispatches of a version of the API have. */
export function callbackNamesIn (version: Version): string[] {
  return [...callbackTypes.filter((type) => isSince(sinceOf(type), version)), testType]
}

/**
 * What the service sends to the receivers of companies: the `webhooks` of the document, one for each type of callback. Types with the same
 * body are one operation: each by itself they took a twentieth of the document.
 */
export function callbackOperations (components: Components): Record<string, OpenApiObject> {
  const parameters = Object.entries(headers).map(([name, description]) =>
    addComponent(components, 'parameters', name, { name, in: 'header', required: true, description, schema: { type: 'string' } })
  )
  const responses = Object.fromEntries(
    Object.entries(answers).map(([status, { name, description }]) => [status, addComponent(components, 'responses', name, { description })])
  )
  const items = Object.fromEntries(Object.entries(bodies).map(([name, { schema, about }]) => {
    const operation = {
      operationId: `on${name}`,
      tags: ['Callbacks'],
      summary: `A callback about ${about}.`,
      description: name === 'TestCallback' ? 'Once, to that endpoint.' : 'To the endpoints that take it.',
      security: [],
      parameters,
      requestBody: addComponent(components, 'requestBodies', name, {
        required: true,
        content: withExamples({ 'application/json': { schema: nameSchemas(schema, components) } }, components.schemas, 'answer')
      }),
      responses
    }
    return [name, addComponent(components, 'pathItems', name, { post: operation })]
  })) as Record<BodyName, OpenApiObject>
  const reported = (type: string, name: BodyName, summary: string): [string, OpenApiObject] => [type, { ...items[name], summary }]
  return Object.fromEntries([
    ...callbackTypes.map((type) =>
      reported(type, bodyOf(type), `${summaries[type]}${sinceOf(type) === undefined ? '' : ` From version ${sinceOf(type) ?? ''} on.`}`)
    ),
    reported(testType, 'TestCallback', 'A test of an endpoint that an admin has asked for: sent once.')
  ])
}

/** The bodies of callbacks, and what they are about. */
const bodies = {
  DispatchCallback: { schema: DispatchCallback, about: 'a dispatch' },
  CompanyCallback: { schema: CompanyCallback, about: 'the credits of a company' },
  BatchCallback: { schema: BatchCallback, about: 'a batch' },
  ApprovalCallback: { schema: ApprovalCallback, about: 'a request that somebody else has to approve' },
  BudgetCallback: { schema: BudgetCallback, about: 'a budget' },
  AlertCallback: { schema: AlertCallback, about: 'an alert' },
  ReceivedCallback: { schema: ReceivedCallback, about: 'a received invoice' },
  EndpointCallback: { schema: EndpointCallback, about: 'an endpoint' },
  TestCallback: { schema: TestCallback, about: 'nothing: a test of an endpoint' }
} as const satisfies Record<string, { schema: object, about: string }>

type BodyName = keyof typeof bodies

/** The types that are not about a dispatch or a batch. */
const ownBodies: Partial<Record<CallbackType, BodyName>> = {
  ...Object.fromEntries(approvalTypes.map((type) => [type, 'ApprovalCallback'])),
  'company.credits_low': 'CompanyCallback',
  'company.budget_reached': 'BudgetCallback',
  ...Object.fromEntries(endpointTypes.map((type) => [type, 'EndpointCallback'])),
  ...Object.fromEntries(alertTypes.map((type) => [type, 'AlertCallback'])),
  ...Object.fromEntries(receivedTypes.map((type) => [type, 'ReceivedCallback']))
}

function bodyOf (type: CallbackType): BodyName {
  return ownBodies[type] ?? (isBatchType(type) ? 'BatchCallback' : 'DispatchCallback')
}

/** Standard Webhooks 1.0.0. */
const headers = {
  'webhook-id': 'The id of the callback, the same in every attempt: it identifies a repeated callback.',
  'webhook-timestamp': 'When it was sent, in seconds since 1970.',
  'webhook-signature': '`v1,` and the HMAC-SHA256 of id, timestamp and body in base64, by the secret of the endpoint, or of ' +
    '`POST /api/v1/company/callback-secret`; for a day after a rotation two, with a space between them.'
}

/** What becomes of a callback by the answer of its receiver. */
const answers = {
  '2XX': {
    name: 'CallbackTaken',
    description:
      'It was received. After any other answer, or none within 10 seconds, it is sent again after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 ' +
      'and 24 h. `Retry-After` makes a pause longer, up to a day.'
  },
  410: { name: 'CallbackStopped', description: 'Stops further attempts.' }
}

const summaries = {
  ...Object.fromEntries(
    notifiedStatuses.map((status) => [`dispatch.${status}`, `An asynchronous dispatch has reached the status "${status}".`])
  ),
  ...Object.fromEntries(
    deliveryServices.flatMap((service) => [
      ...deliveryStatusesOf(service).map((status) => [
        `${service}.${status}`,
        `The step "${service}" of a dispatch has reached the delivery status "${status}".`
      ]),
      ...deliveryMarksOf(service).map(
        (mark) => [`${service}.${mark}`, `A recipient has ${mark === 'complained' ? 'complained of' : mark} the ${service}.`]
      )
    ])
  ),
  'email.sent': 'All recipients of an e-mail have it, including those who were refused temporarily.',
  'email.partially_sent': 'Some recipients of an e-mail do not have it, and there are no further retries.',
  'deferred.failed': 'A deferred action has failed and is not tried again by itself.',
  'batch.progress': 'Another tenth of the rows of a batch has ended.',
  'batch.finished': 'All rows of a batch have ended.',
  'batch.cancelled': 'A batch was cancelled.',
  'batch.refused': 'A batch was refused: nothing of it is sent.',
  'approval.requested': 'Somebody else has to approve a request before it is sent.',
  'approval.approved': 'Somebody else has approved a request, and it was sent.',
  'approval.refused': 'A request that had to be approved was refused: it is not sent.',
  'approval.withdrawn': 'Whoever asked for an approval has taken the request back.',
  'approval.expired': 'Nobody has decided about a request in time: it is not sent.',
  'company.budget_reached': 'Of a monthly budget of the company 80 or 100 % are used.',
  'company.endpoint_failing': 'An endpoint has failed for 2 days; after 5 it is disabled.',
  'company.endpoint_disabled': 'An endpoint has failed for 5 days and was disabled: what waited for it is stopped, and can be sent again.',
  'alert.began': 'The condition of an alert that the company has set is met.',
  'alert.ended': 'What an alert has told of is over.',
  'invoice.received': 'An e-invoice has come, and its file is there or cannot be had.',
  'invoice.status_said': 'The platform has a status that the company has said of a received e-invoice.',
  'invoice.status_refused': 'The platform does not take a status after all.',
  'company.credits_low': 'The free credits of the company are below its threshold.'
} as Record<CallbackType, string>
