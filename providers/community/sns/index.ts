import { awsCredentials, defineProvider, inFrench, Type } from '@dispatch/core/provider'

const Sent = Type.Object({
  PublishResponse: Type.Object({ PublishResult: Type.Object({ MessageId: Type.String({ minLength: 1 }) }) })
})

export default defineProvider({
  code: 'sns',
  name: 'Amazon SNS',
  docs: 'https://docs.aws.amazon.com/sns/latest/api/API_Publish.html',
  hosts: ['sns.{region}.amazonaws.com'],
  settings: Type.Object({
    ...awsCredentials(),
    sender: Type.Optional(Type.String({
      title: 'Sender ID',
      ...inFrench('Expéditeur', 'l’expéditeur habituel : 11 lettres et chiffres au plus, où le pays le permet'),
      description: 'the usual sender: up to 11 letters and digits, where the country permits it',
      pattern: '^(?=.*[A-Za-z])[A-Za-z0-9-]{1,11}$',
      examples: ['ACME']
    }))
  }),
  errors: {
    at: '/ErrorResponse/Error/Code',
    message: '/ErrorResponse/Error/Message',
    map: {
      InvalidParameter: 'provider_error',
      OptedOut: 'provider_error',
      AuthorizationError: 'authentication_error',
      InvalidClientTokenId: 'authentication_error',
      SignatureDoesNotMatch: 'authentication_error',
      Throttled: 'provider_unavailable'
    }
  },
  services: {
    sms: {
      alphanumericSender: true,
      idempotency: { kind: 'none' },

      async dispatch ({ sms: { phoneNumber, message, sender } }, { settings, http }) {
        const { region, accessKeyId, secretAccessKey } = settings
        const attributes = { 'AWS.SNS.SMS.SMSType': 'Transactional', 'AWS.SNS.SMS.SenderID': sender ?? settings.sender }
        const { PublishResponse: { PublishResult: { MessageId: id } } } = await http.post(`https://sns.${region}.amazonaws.com/`, {
          sigv4: { accessKeyId, secretAccessKey, region, service: 'sns' },
          replyAs: 'xml',
          form: {
            Action: 'Publish',
            Version: '2010-03-31',
            PhoneNumber: phoneNumber,
            Message: message,
            ...Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined).flatMap(([name, value], index) => [
              [`MessageAttributes.entry.${index + 1}.Name`, name],
              [`MessageAttributes.entry.${index + 1}.Value.DataType`, 'String'],
              [`MessageAttributes.entry.${index + 1}.Value.StringValue`, value]
            ]))
          }
        }, Sent)
        return { id, status: 'sent' }
      }
    }
  }
})
