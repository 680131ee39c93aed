"""Arithmetic on arrays that engines, comparison and topics share; no framework here."""
