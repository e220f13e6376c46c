import { Type } from '@dispatch/core/provider'

/** A message as the search has it: `trackingId` is the reference of whoever has sent it. */
const Message = Type.Object({
  flowId: Type.String({ minLength: 1 }),
  updatedAt: Type.String(),
  flowSyntax: Type.Optional(Type.String()),
  trackingId: Type.Optional(Type.Union([Type.String(), Type.Null()]))
})
export const Messages = Type.Object({ results: Type.Array(Message) })

const Detail = Type.Object({ ReasonCode: Type.Optional(Type.String()), Reason: Type.Optional(Type.String()) })
const Reference = Type.Object({
  IssuerAssignedID: Type.Optional(Type.String()),
  ProcessConditionCode: Type.Optional(Type.String()),
  SpecifiedDocumentStatus: Type.Optional(Type.Union([Detail, Type.Array(Detail)]))
})
const Acknowledgement = Type.Object({
  IssueDateTime: Type.Object({ DateTimeString: Type.Union([Type.String(), Type.Object({ '#text': Type.String() })]) }),
  ReferenceReferencedDocument: Type.Union([Reference, Type.Array(Reference)])
})
/** A message about invoices (CDAR), as far as it says what became of them. */
export const Told = Type.Object({
  CrossDomainAcknowledgementAndResponse: Type.Object({
    AcknowledgementDocument: Type.Union([Acknowledgement, Type.Array(Acknowledgement)])
  })
})
