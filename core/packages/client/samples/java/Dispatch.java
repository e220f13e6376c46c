import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Sends an invoice, and verifies callbacks. Java 17 or later, without any library.
 *
 * <pre>
 * DISPATCH_URL=https://dispatch.example.com DISPATCH_KEY=dk_live_... java Dispatch.java send order-1001 &lt; invoice.json
 * java Dispatch.java verify (webhook-id) (webhook-timestamp) (webhook-signature) (secret) &lt; body
 * </pre>
 */
public final class Dispatch {
  private static final int TRIES = 4;

  /** Dispatches an invoice. The same key with each try, also of a later run, makes one dispatch of it. */
  static String send(byte[] request, String idempotencyKey) throws IOException, InterruptedException {
    HttpClient client = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
    HttpRequest call = HttpRequest.newBuilder(URI.create(System.getenv("DISPATCH_URL") + "/api/invoicing"))
        .header("Authorization", "Bearer " + System.getenv("DISPATCH_KEY"))
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", idempotencyKey)
        .timeout(Duration.ofSeconds(130))
        .POST(HttpRequest.BodyPublishers.ofByteArray(request))
        .build();
    for (int attempt = 1;; attempt++) {
      long pause = 1L << attempt;
      try {
        HttpResponse<String> answer = client.send(call, HttpResponse.BodyHandlers.ofString());
        int status = answer.statusCode();
        boolean isDone = status >= 200 && status < 300;
        if (isDone && isAnswer(answer.body())) return answer.body();
        // Not now, still under way, or a page of a proxy: anything else stays as it is, however often it is asked.
        boolean passes = isDone || status == 429 || status == 503 || status == 504
            || status == 409 && answer.body().contains("idempotency_in_progress");
        if (!passes || attempt == TRIES) {
          throw new IllegalStateException(status + ": " + answer.body() + ". Repeat it under the key " + idempotencyKey + " alone.");
        }
        pause = answer.headers().firstValueAsLong("Retry-After").orElse(pause);
      } catch (IOException error) {
        // No connection, or one that was cut: what was sent is not sent again, because the key is the same.
        if (attempt == TRIES) throw error;
      }
      Thread.sleep(Math.min(pause, 60) * 1000);
    }
  }

  /** Whether a body is a whole answer of the service, and not a page of a proxy. */
  private static boolean isAnswer(String body) {
    return body.strip().startsWith("{") && body.strip().endsWith("}") && (body.contains("\"dispatchId\"") || body.contains("\"statusUrl\""));
  }

  /** Whether a callback is the service's (Standard Webhooks), and not older than five minutes. Give it the bytes of the body. */
  static boolean verify(byte[] body, String id, String timestamp, String signatures, String secret) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(Base64.getDecoder().decode(secret.replaceFirst("^whsec_", "")), "HmacSHA256"));
    mac.update((id + "." + timestamp + ".").getBytes("UTF-8"));
    byte[] wanted = ("v1," + Base64.getEncoder().encodeToString(mac.doFinal(body))).getBytes("UTF-8");
    boolean fits = Arrays.stream(signatures.split(" ")).anyMatch(given -> MessageDigest.isEqual(wanted, given.getBytes()));
    return fits && Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp)) <= 300;
  }

  public static void main(String[] given) throws Exception {
    byte[] input = System.in.readAllBytes();
    if (given[0].equals("send")) {
      System.out.println(send(input, given[1]));
    } else if (!verify(input, given[1], given[2], given[3], given[4])) {
      System.err.println("This is no callback of the service: answer it with 400.");
      System.exit(1);
    }
  }
}
