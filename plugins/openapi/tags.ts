/** What a part of the document is for: a program that sends, an admin's, an operator's. */
export const parts = {
  send: 'What a program needs that sends documents',
  manage: 'What a company sets up, and looks at',
  operate: 'What the operators of a service do'
} as const
export type Part = keyof typeof parts

/** The groups of operations, in the order in which a newcomer meets them, each with the part of the document that has it. */
export const tags = {
  Authentication: ['send', 'Logging in, and acting for others.'],
  Dispatch: ['send', 'Dispatch through one or several services, and validate.'],
  Batches: ['send', 'Many dispatches in one file.'],
  Drafts: ['send', 'Requests that are not finished.'],
  Assistants: ['manage', 'What assistants propose, and people send.'],
  Approvals: ['manage', 'What somebody else has to approve before it is sent.'],
  Contacts: ['manage', 'To whom documents go, and who a company is on them.'],
  Suppressions: ['manage', 'To whom nothing is sent.'],
  'E-reports': ['manage', 'What French companies report to the tax authority.'],
  Privacy: ['manage', 'What is held about persons: erased for good, or handed over.'],
  Usage: ['manage', 'What was sent, and what became of it, in numbers.'],
  Alerts: ['manage', 'What a company wants to be told of, and how.'],
  Dispatches: ['send', 'The state of dispatches, and the actions of people on them.'],
  Documents: ['send', 'The documents that were made.'],
  'Received invoices': ['manage', 'E-invoices that others have sent to the company, and what it says of them.'],
  Callbacks: ['send', 'The messages that the service sends by itself, and the secret that signs them.'],
  Templates: ['send', 'What documents are made of.'],
  Providers: ['manage', 'Who dispatches.'],
  Marketplace: ['operate', 'Adapters that are installed while the service runs.'],
  Configuration: ['manage', 'Which provider does what, and how.'],
  Credits: ['manage', 'What dispatches cost.'],
  Keys: ['manage', 'The keys of programs.'],
  Users: ['manage', 'The people of a company.'],
  'Second factor': ['manage', 'What people sign in with besides the password.'],
  Company: ['manage', 'The settings of a company, and the record of changes.'],
  Platform: ['operate', 'For operators: companies, and what waits.'],
  Webhooks: ['operate', 'Where vendors post their events.'],
  Health: ['send', 'For load balancers and clients.'],
  Simulator: ['operate', 'For development: the sent dispatches, and their delivery statuses.']
} as const satisfies Readonly<Record<string, readonly [part: Part, description: string]>>
