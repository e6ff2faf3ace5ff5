/* Splits a whole number into primes. Build: cc -O2 -o number-factor number-factor.c */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char schema[] =
    "{\"name\":\"number.factor\",\"version\":\"1.0.0\","
    "\"description\":\"Splits a whole number into its prime factors, smallest first.\","
    "\"tags\":[\"math\"],\"risk\":\"low\",\"mutates\":false,\"idempotent\":true,"
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"number\":"
    "{\"type\":\"integer\",\"minimum\":1,\"maximum\":9007199254740991}},"
    "\"required\":[\"number\"],\"additionalProperties\":false},"
    "\"output_schema\":{\"type\":\"object\",\"properties\":{\"factors\":"
    "{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},\"required\":[\"factors\"]}}";

/* The gate has checked the input against the schema: the only number in it is the one we want. */
static uint64_t read_number(void) {
  char input[256];
  size_t length = fread(input, 1, sizeof input - 1, stdin);
  input[length] = '\0';
  const char *colon = strchr(input, ':');
  return colon == NULL ? 0 : strtoull(colon + 1, NULL, 10);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "--schema") == 0) return puts(schema) < 0;

  uint64_t rest = read_number();
  if (rest < 1 || rest > 9007199254740991) {
    fputs("number must be a whole number between 1 and 9007199254740991.\n", stderr);
    return 2;
  }
  const char *separator = "";
  fputs("{\"factors\":[", stdout);
  for (uint64_t divisor = 2; rest > 1; divisor++) {
    if (divisor * divisor > rest) divisor = rest;
    for (; rest % divisor == 0; rest /= divisor) {
      printf("%s%llu", separator, (unsigned long long)divisor);
      separator = ",";
    }
  }
  return puts("]}") < 0;
}
