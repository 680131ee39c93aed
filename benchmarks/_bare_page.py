"""The least page that Streamlit can show: the floor beneath every page of the app."""

import streamlit as st

st.text_input("Search")
