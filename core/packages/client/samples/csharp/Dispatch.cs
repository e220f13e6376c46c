using System;
using System.IO;
using System.Linq;
using System.Net;
using System.Net.Http;
using System.Net.Http.Headers;
using System.Security.Cryptography;
using System.Text;
using System.Threading.Tasks;

/// <summary>
/// Sends an invoice, and verifies callbacks. C# 7 or later, with .NET 6 or later or Mono, without any package.
/// <code>
/// DISPATCH_URL=https://dispatch.example.com DISPATCH_KEY=dk_live_... dotnet run -- send order-1001 &lt; invoice.json
/// dotnet run -- verify (webhook-id) (webhook-timestamp) (webhook-signature) (secret) &lt; body
/// </code>
/// </summary>
public static class Dispatch
{
    private const int Tries = 4;
    // A redirect would make a GET of a POST, elsewhere.
    private static readonly HttpClient Client = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false })
    {
        Timeout = TimeSpan.FromSeconds(130)
    };

    /// <summary>Dispatches an invoice. The same key with each try, also of a later run, makes one dispatch of it.</summary>
    public static async Task<string> Send(byte[] request, string idempotencyKey)
    {
        for (var attempt = 1; ; attempt++)
        {
            var pause = TimeSpan.FromSeconds(1 << attempt);
            var call = new HttpRequestMessage(HttpMethod.Post, Environment.GetEnvironmentVariable("DISPATCH_URL") + "/api/invoicing");
            call.Headers.Authorization = new AuthenticationHeaderValue("Bearer", Environment.GetEnvironmentVariable("DISPATCH_KEY"));
            call.Headers.Add("Idempotency-Key", idempotencyKey);
            call.Content = new ByteArrayContent(request);
            call.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
            try
            {
                using (var answer = await Client.SendAsync(call))
                {
                    var body = await answer.Content.ReadAsStringAsync();
                    if (answer.IsSuccessStatusCode && IsAnswer(body)) return body;
                    // Not now, still under way, or a page of a proxy: anything else stays as it is, however often it is asked.
                    var passes = answer.IsSuccessStatusCode || new[] { 429, 503, 504 }.Contains((int)answer.StatusCode)
                        || answer.StatusCode == HttpStatusCode.Conflict && body.Contains("idempotency_in_progress");
                    if (!passes || attempt == Tries)
                    {
                        throw new InvalidOperationException(
                            (int)answer.StatusCode + ": " + body + ". Repeat it under the key " + idempotencyKey + " alone.");
                    }
                    pause = answer.Headers.RetryAfter?.Delta ?? pause;
                }
            }
            // No connection, or one that was cut, or no answer in time: what was sent is not sent again, because the key is the same.
            catch (Exception error) when (attempt < Tries &&
                (error is HttpRequestException || error is TaskCanceledException || error is IOException))
            {
            }
            await Task.Delay(pause < TimeSpan.FromSeconds(60) ? pause : TimeSpan.FromSeconds(60));
        }
    }

    /// <summary>Whether a body is a whole answer of the service, and not a page of a proxy.</summary>
    private static bool IsAnswer(string body)
    {
        var text = body.Trim();
        return text.StartsWith("{") && text.EndsWith("}") && (text.Contains("\"dispatchId\"") || text.Contains("\"statusUrl\""));
    }

    /// <summary>Whether a callback is the service's (Standard Webhooks), and not older than five minutes. Give it the bytes of the body.</summary>
    public static bool Verify(byte[] body, string id, string timestamp, string signatures, string secret)
    {
        var key = Convert.FromBase64String(secret.StartsWith("whsec_") ? secret.Substring(6) : secret);
        using (var mac = new HMACSHA256(key))
        {
            var signed = Encoding.UTF8.GetBytes(id + "." + timestamp + ".").Concat(body).ToArray();
            var wanted = "v1," + Convert.ToBase64String(mac.ComputeHash(signed));
            var fits = signatures.Split(' ').Aggregate(false, (found, given) => Same(wanted, given) | found);
            return fits && Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - long.Parse(timestamp)) <= 300;
        }
    }

    /// <summary>In a time that does not tell where they differ; CryptographicOperations.FixedTimeEquals does it where there is one.</summary>
    private static bool Same(string wanted, string given)
    {
        var difference = wanted.Length ^ given.Length;
        for (var at = 0; at < wanted.Length && at < given.Length; at++) difference |= wanted[at] ^ given[at];
        return difference == 0;
    }

    public static int Main(string[] given)
    {
        var input = new MemoryStream();
        Console.OpenStandardInput().CopyTo(input);
        if (given[0] == "send")
        {
            Console.WriteLine(Send(input.ToArray(), given[1]).GetAwaiter().GetResult());
            return 0;
        }
        if (Verify(input.ToArray(), given[1], given[2], given[3], given[4])) return 0;
        Console.Error.WriteLine("This is no callback of the service: answer it with 400.");
        return 1;
    }
}
