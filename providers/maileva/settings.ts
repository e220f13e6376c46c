import { type Context, Secret, type Static, Type } from '@dispatch/core/provider'
import { longestLine } from './address.ts'

const line = { minLength: 1, maxLength: longestLine, pattern: '^[^\\p{Cc}]+$' }

export const Settings = Type.Object({
  clientId: Type.String({
    title: 'Client ID',
    description: 'the identifier of the application that Maileva registered for you',
    minLength: 1
  }),
  clientSecret: Secret({ title: 'Client secret', description: 'the secret of the application' }),
  username: Type.String({
    title: 'User',
    description: 'The Maileva account that sends and pays; a sandbox has accounts of its own.',
    minLength: 1
  }),
  password: Secret({ title: 'Password', description: 'the password of that account' }),
  postageType: Type.Optional(
    Type.Enum(['FAST', 'ECONOMIC'], { title: 'Postage', description: 'How fast simple letters go; ECONOMIC unless set.' })
  ),
  addressSheet: Type.Optional(Type.Boolean({
    title: 'Address sheet',
    description:
      'Prints the address on a sheet of its own before the first page (unless set to false), as documents seldom leave room for it.'
  })),
  acknowledgement: Type.Optional(Type.Boolean({
    title: 'Acknowledgement of receipt',
    description: 'Registered letters come with an acknowledgement of receipt, unless set to false.'
  })),
  printSender: Type.Optional(Type.Boolean({
    title: 'Printed sender',
    description: 'Prints the address of the sender on every letter; a simple one goes in an envelope with two windows.'
  })),
  undeliveredMail: Type.Optional(Type.String({
    title: 'Undelivered mail',
    description:
      'The e-mail address to which Maileva reports letters that cannot be delivered, in place of sending them back; not with a ' +
      'printed sender on simple ones.',
    maxLength: 254,
    pattern: '^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$'
  })),
  senderName: Type.Optional(
    Type.String({
      title: 'Sender',
      description: 'Registered letters, and a sender that is printed, need one: the first line of the address.',
      ...line
    })
  ),
  senderDetails: Type.Optional(
    Type.String({ title: 'Sender, second line', description: 'A department or a person, where there is one.', ...line })
  ),
  senderStreet: Type.Optional(Type.String({ title: 'Street of the sender', description: 'The number and the street.', ...line })),
  senderCity: Type.Optional(
    Type.String({ title: 'City of the sender', description: 'The postal code and the city, such as 75002 Paris.', ...line })
  ),
  senderCountry: Type.Optional(
    Type.String({ title: 'Country of the sender', description: 'two letters; FR unless set', pattern: '^[A-Z]{2}$' })
  ),
  webhookUser: Type.Optional(Type.String({
    title: 'Webhook user',
    description: 'The login of the subscriptions; unset, that of the server\'s configuration.',
    minLength: 1,
    pattern: '^[^:]+$'
  })),
  webhookPassword: Type.Optional(Secret({ title: 'Webhook password', description: 'The password of the subscriptions.' }))
})

export type Call = Context<Static<typeof Settings>, object>
