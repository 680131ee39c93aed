"""The engines of JAX, which workers import."""
